"""`python -m tests.sample_data`: fill an empty workspace with generated runs and results."""

import os
import sys

import django

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "evalhub.settings")
    django.setup()
    from tests.sample_data.command import Command

    Command().run_from_argv(["dev.py", "generate_sample_data", *sys.argv[1:]])
