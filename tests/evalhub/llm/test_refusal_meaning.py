"""What providers say when they refuse, in the wordings of public documents and issue trackers."""

from evalhub.llm.providers.refusal_meaning import meaning_of

OF_ACCOUNT = """
401 Incorrect API key provided: sk-a. You can find your API key at https://platform.openai.com.
401 {"error": {"type": "authentication_error", "message": "invalid x-api-key"}}
401 {"message":"Unauthorized"}
401 {"error":{"message":"No auth credentials found","code":401}}
401 {"error":{"message":"User not found.","code":401}}
401 Authentication Fails, Your api key: ****a is invalid
401 Access denied due to invalid subscription key or wrong API endpoint.
400 API key not valid. Please pass a valid API key.
400 {"status": "INVALID_ARGUMENT", "message": "API key expired. Please renew the API key."}
403 The security token included in the request is invalid.
403 Permission denied: Consumer 'api_key:a' has been suspended. CONSUMER_SUSPENDED
401 Invalid API Key provided, code invalid_api_key
401 Authentication Error, LiteLLM Virtual Key expected. Received an invalid api key
429 {"message": "You exceeded your current quota", "code": "insufficient_quota"}
400 Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing.
402 Insufficient Balance
402 This request requires more credits, or fewer max_tokens. You can only afford 3919.
403 {"error":{"message":"Key limit exceeded (monthly limit).","code":403}}
403 Your newly created team doesn't have any credits yet.
429 Your account a is suspended, please check your plan: exceeded_current_quota_error
400 {"code":"Arrearage","message":"Access denied, make sure your account is in good standing"}
403 This API method requires billing to be enabled.
400 Budget has been exceeded! Current cost: 1.2, Max budget: 1.0
429 Your account is not active, please check your billing details. billing_not_active
412 Account a is suspended, possibly due to reaching the monthly spending limit
402 You have exceeded your monthly included credits for Inference Providers.
"""

OF_CONTENT = """
400 The response was filtered due to the prompt triggering Azure OpenAI's content management policy
400 {"innererror": {"code": "ResponsibleAIPolicyViolation"}}
400 Invalid prompt: your prompt was flagged as potentially violating our usage policy.
400 Invalid prompt: we've limited access to this content for safety reasons.
400 {"error": {"code": "cyber_policy", "message": "This request was blocked."}}
400 Your request was rejected as a result of our safety system.
400 {"type": "invalid_request_error", "message": "Output blocked by content filtering policy"}
400 {"code": "data_inspection_failed", "message": "Input data may contain inappropriate content"}
400 InternalError.Algo.DataInspectionFailed
400 Content Exists Risk
403 {"code": "permission-denied", "error": "Content violates usage guidelines. "}
403 {"message": "a/b requires moderation on Together. Your input was flagged for \\"violence\\"."}
403 Request was rejected by our content policy
403 <title>Attention Required! | Cloudflare</title><h1>Sorry, you have been blocked</h1>
400 {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}
400 {"details": [{"reason": "PUBLIC_ERROR_UNSAFE_GENERATION"}]}
400 Violated guardrail policy: guardrail_intervened
422 The request contains sensitive words detected by the gateway
"""

TOO_LONG = """
400 request (9 tokens) exceeds the available context size
400 prompt is too long: 210000 tokens > 200000 maximum
400 This model's maximum context length is 4096 tokens. Please reduce the length of the messages.
429 Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 50026. The input
413 Request too large for model `a` on tokens per minute (TPM): Limit 6000, Requested 14810, please
429 Request too large on tokens per min: Limit: 30,000, Requested: 1,050,026.
413 {"type": "request_too_large", "message": "Request exceeds the maximum size"}
422 Input validation error: inputs must have less tokens, too many input tokens
"""

MAY_PASS = """
429 Rate limit reached on tokens per min (TPM): Limit 30000, Requested 5026.
429 TPM: Limit 6000, Used 5034, Requested 1443. Upgrade at https://console.groq.com/settings/billing
429 You exceeded your current quota, check plan and billing. RESOURCE_EXHAUSTED, retry in 12s
429 This request would exceed your organization's rate limit of 30,000 input tokens per minute
429 Engine is overloaded; content policy of the gateway: try again
429 Requests to the API have exceeded the token rate limit of your current pricing tier
"""

OF_REQUEST = """
400 Unsupported value: 'temperature' does not support 0 with this model.
422 top_k must be positive
404 No endpoints found that support tool use. Try disabling "count_words".
404 No endpoints found that support image input
400 Unexpected token in JSON at position 5
"""

UNCERTAIN = """
403 refused_key Country not supported
403 refused_key Forbidden
404 not_found The model `gone` does not exist.
404 not_found The API deployment for this resource does not exist. DeploymentNotFound
404 not_found 404 page not found
400 not_found Invalid model name passed in model=gone
400 not_found The model `a` has been decommissioned and is no longer supported.
"""

OTHERS = """
529 server_error Overloaded
500 server_error context length
504 timed_out upstream timed out
"""


def test_what_providers_say_when_they_refuse(subtests):
    for cases, kind, is_of_account in (
        (OF_ACCOUNT, "refused_key", True),
        (OF_CONTENT, "content_filtered", False),
        (TOO_LONG, "context_too_long", False),
        (MAY_PASS, "rate_limited", False),
        (OF_REQUEST, "bad_request", False),
        (UNCERTAIN, "", False),
        (OTHERS, "", False),
    ):
        for case in cases.strip().splitlines():
            status, text = case.split(" ", 1)
            if not kind:
                expected, text = text.split(" ", 1)
            with subtests.test(case):
                assert meaning_of(int(status), text) == (kind or expected, is_of_account)
