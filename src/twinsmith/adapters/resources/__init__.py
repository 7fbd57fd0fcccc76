"""This machine as the kernel tells it: free memory, free disk, sizes of folders, processes."""
