// The driver, for a program that includes all of the library anyway.
#include <bits/stdc++.h>

#include "driver.hpp"
