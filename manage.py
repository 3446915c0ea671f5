#!/usr/bin/env python
"""Run a management command."""

from evalhub.command_line import main

if __name__ == "__main__":
    main()
