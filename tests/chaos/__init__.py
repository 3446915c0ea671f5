"""`dev.py chaos`: real faults in the middle of real runs, with every call counted by key."""
