"""Advice for people, by kind of error. Pure."""

ADVICE: dict[str, str] = {
    "rate_limited": "Lower the model's concurrency or rate limit.",
    "timed_out": "Raise the model's timeout, or ask for shorter answers.",
    "refused_key": "Check the key in the model's environment variable.",
    "missing_key": "Set the model's environment variable and restart the workers.",
    "not_found": "Check the model's name and base URL.",
    "bad_request": "The provider refused the parameters: read the message in the call log.",
    "context_too_long": "The test exceeds the model's context window.",
    "content_filtered": "The provider's content filter blocked the answer.",
    "unreachable": "Check that the endpoint is up and its base URL correct, then retry.",
    "empty_answer": "The model returned no text: check its token limit.",
    "server_error": "The provider failed: retry later.",
    "forbidden_address": "Allow the address in EVALHUB_ALLOWED_ADDRESSES, or change the base URL.",
    "unreadable": "The judge's reply could not be parsed.",
    "unreadable_reply": "The response is not that of a language model: check the base URL.",
    "check_error": "The check failed: review its arguments.",
    "cannot_run": "This check runs foreign code or uses the network, so it is never run.",
    "echo": "The judge repeated a verdict from the answer: it is not counted.",
    "worker_died": "A worker died: read its log before you retry.",
    "no_answer": "There was no answer to judge.",
    "cancelled": "The run was cancelled during the call.",
    "nothing_asked": "The conversation ends without a question: edit the test's messages.",
    "unaskable": "The judge prompt could not be rendered: check the template and the test.",
    "internal": "Internal error of EvalHub: read the worker's log, then retry.",
    "imported_error": "The error was imported with the result.",
}


def advice(kind: str) -> str:
    """Return the advice for errors of this kind; "" where there is none."""
    return ADVICE.get(kind, "")
