"""Work with an EvalHub site from Python. Needs httpx alone. Pure.

from evalhub_client import Client

with Client() as evalhub:  # EVALHUB_URL and EVALHUB_TOKEN say where
    launch = evalhub.launch(label="Build 214", suite=3, models=[1], jury=1)
    evalhub.wait(launch["runs"])
    print(evalhub.gate(launch["runs"][0])["reason"])
"""

from evalhub_client.client import AsyncClient, Client
from evalhub_client.errors import ApiError, EvalHubError, NotDone, Unreachable
from evalhub_client.progress_bar import ProgressBar

__all__ = [
    "ApiError",
    "AsyncClient",
    "Client",
    "EvalHubError",
    "NotDone",
    "ProgressBar",
    "Unreachable",
]
