"""What models cost: accounts, prices, forecasts, and the allowances that nobody passes unasked."""
