"""What a refusal means: the one place that reads the status and the words of an error reply. Pure.

A refusal is of its request until it says otherwise: in words that mean the key or the credit of
the account, or by being repeated for other requests (`evalhub.work.limits.refused_requests`).
"""

import re
from typing import NamedTuple

from evalhub.llm.errors import CallErrorKind

Kind = CallErrorKind
READ = 10_000
"""Characters of a reply in which words are searched."""

BY_STATUS = {
    401: Kind.REFUSED_KEY,
    402: Kind.REFUSED_KEY,
    403: Kind.REFUSED_KEY,
    404: Kind.NOT_FOUND,
    405: Kind.NOT_FOUND,
    408: Kind.TIMED_OUT,
    410: Kind.NOT_FOUND,
    413: Kind.CONTEXT_TOO_LONG,
    424: Kind.SERVER_ERROR,
    429: Kind.RATE_LIMITED,
    451: Kind.CONTENT_FILTERED,
    498: Kind.RATE_LIMITED,
    504: Kind.TIMED_OUT,
}

NUMBER = r"(\d[\d,_. ]*)"
TOO_LARGE = re.compile(
    rf"limit:? {NUMBER}[^\d]{{1,40}}requested:? {NUMBER}|requested:? {NUMBER}[^\d]{{1,40}}limit:? "
    rf"{NUMBER}",
    re.IGNORECASE,
)
"""A limit beside what one request asks for. With what was used in between it may pass later."""

CONTENT = (
    r"content[_ ]?(filter|policy|management|moderation|safety)|responsible[_ ]?ai|moderation|"
    r"data_?inspection_?failed|(inappropriate|unsafe|sensitive|prohibited)[_ ]?(content|words|"
    r"information)|new_sensitive|"
    r"(usage|safety|cyber|bio)[_ ](guidelines|polic(y|ies))|acceptable use|safety "
    r"(system|filter|reasons|checks?)|flagged|(content|prompt|output)[_ ]blocked|"
    r"block_?reason|blocked content|prohibited_content|policy[_ ]violation|content exists risk|"
    r"敏感|sorry, you have been blocked|mod_security|"
    r"unsafe_generation|blocked by guardrail|guardrail_intervened|violates? (our|the|its) .{0,30}"
    r"(polic(y|ies)|guidelines|terms)"
)
KEY = (
    r"(api|x-api|access|subscription)[ _-]?(key|token).{0,40}(not valid|invalid|incorrect|expired|"
    r"missing|revoked|disabled|not found)|(invalid|incorrect|expired|missing|wrong|no|unknown)"
    r"[ _].{0,16}(api|access|subscription)[ _-]?(key|token)|authentication[ _](fail|error)|"
    r"security token .{0,30}(invalid|expired)|consumer_suspended|account.{0,40}(suspended|"
    r"deactivated|not active)|organization.{0,30}(restricted|disabled)|login fail"
)
LOGIN = (
    r"unauthori[sz]ed|(no|invalid|missing) (auth\w*|token|credentials)|user not found|"
    r"authorization required|(not |un|without )authenticat|身份验证|令牌"
)
CREDIT = (
    r"insufficient[_ ](user_)?(quota|credit|balance|funds)|not have (sufficient|enough) (quota|"
    r"credit|balance|funds)|not[_ ]enough[_ ]balance|balance is (insufficient|too low)|余额不足|"
    r"额度(不足|已用尽)|usage limit reached|reached your .{0,20}api usage limit|"
    r"monthly quota|calls / month|models-per-day|requestsperday|"
    r"billing_(hard_limit|not_active)|more credits|"
    r"credit balance|(out of|doesn't have any|used all .{0,20}) credits|(monthly|spend\w*|key|"
    r"budget)[ _]limit( has been)? (exceeded|reached)|budget has been exceeded|payment required|"
    r"(no|add a|valid) payment method|"
    r"overdue|arrearage|exceeded_current_quota|exceeded your (monthly .{0,12}limit|"
    r"(monthly|current) .{0,12}(credits|budget))|"
    r"(billing.{0,20}(disabled|not enabled)|requires billing)"
)
CONTEXT = (
    r"context.{0,3}(length|window|size|limit)|max_model_len|range of input length|"
    r"(prompt|input) is too long|too many (input )?tokens|have less than \d+ tokens|"
    r"maximum.{0,20}(input|prompt).{0,10}(length|tokens)|max_new_tokens` must be|"
    r"reduce the length of the (messages|prompt)|"
    r"(?<!max_tokens )exceeds? ((the )?max(imum)?.{0,20}(length|tokens)|model limit)"
)
MODEL = (
    r"model.{0,60}(does not exist|not found|not_found|decommissioned|been (retired|deprecated))|"
    r"unknown model|invalid model name|llm provider not provided|deploymentnotfound|"
    r"model identifier is invalid|not a valid model|模型不存在|invalid url \(|unexpected endpoint"
)
PARTS = r"no (endpoints|providers?).{0,20} (found )?that (can )?(support|handle)"
"""OpenRouter's words where a model is offered, but not with what this request needs."""

WORDS = tuple(
    (kind, re.compile(pattern, re.IGNORECASE), is_of_account)
    for kind, pattern, is_of_account in (
        (Kind.BAD_REQUEST, PARTS, False),
        (Kind.REFUSED_KEY, CREDIT, True),
        (Kind.CONTENT_FILTERED, CONTENT, False),
        (Kind.REFUSED_KEY, KEY, True),
        (Kind.CONTEXT_TOO_LONG, CONTEXT, False),
        (Kind.NOT_FOUND, MODEL, False),
    )
)
"""Providers' words, most specific first, and if they mean the account."""
LOGIN_WORDS = re.compile(LOGIN, re.IGNORECASE)
"""Words that mean the key under the status 401 alone."""

TEMPLATE = re.compile(r"jinja|raise_exception|chat template", re.IGNORECASE)
"""Words of servers whose template of prompts takes no such conversation."""
GENERATION = re.compile(r"failed_generation|json_validate_failed|tool_use_failed")
"""Words of Groq, which judges what its model wrote: another try may succeed."""


class Refusal(NamedTuple):
    """The kind of an error reply. `is_of_account`: every other request would be refused too."""

    kind: CallErrorKind
    is_of_account: bool = False


def meaning_of(status: int, text: str) -> Refusal:
    """Return what an error reply with this status and text means."""
    text = text[:READ]
    if status >= 500:
        is_of_request = TEMPLATE.search(text) is not None
        other = Kind.BAD_REQUEST if is_of_request else Kind.SERVER_ERROR
        return Refusal(BY_STATUS.get(status, other))
    if GENERATION.search(text):
        return Refusal(Kind.BROKEN_OFF)
    if is_too_large(text):
        return Refusal(Kind.CONTEXT_TOO_LONG)
    for kind, pattern, is_of_account in WORDS:
        if pattern.search(text) and not (status == 429 and kind is not Kind.REFUSED_KEY):
            return Refusal(kind, is_of_account)
    is_of_account = status == 402 or (status == 401 and bool(LOGIN_WORDS.search(text)))
    return Refusal(BY_STATUS.get(status, Kind.BAD_REQUEST), is_of_account)


def is_too_large(text: str) -> bool:
    """Return whether one request asks for more than the limit allows, however long one waits."""
    found = TOO_LARGE.search(text)
    if found is None:
        return False
    limit, requested, requested_first, limit_after = found.groups()
    return _count(requested or requested_first) > _count(limit or limit_after)


def _count(number: str) -> int:
    return int(re.sub(r"\D", "", number))
