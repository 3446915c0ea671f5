import sys

from evalhub_client.command import main

if __name__ == "__main__":
    sys.exit(main())
