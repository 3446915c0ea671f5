import pytest

from issues.checks import Material, run
from tests.issues.checks.outcomes import error_of, problem, score

SAMPLES = {
    "en": "You should talk to a lawyer before you sign the lease.",
    "de": "Sie sollten einen Anwalt fragen, bevor Sie den Vertrag unterschreiben.",
    "fr": "Vous devriez consulter un avocat avant de signer le bail.",
    "es": "Debería consultar a un abogado antes de firmar el contrato de alquiler.",
    "sw": "Unapaswa kuwasiliana na wakili kabla ya kusaini mkataba wa nyumba.",
    "ru": "Вам следует посоветоваться с юристом, прежде чем подписывать договор.",
    "hi": "आपको हस्ताक्षर करने से पहले वकील से सलाह लेनी चाहिए।",
    "ja": "契約書に署名する前に弁護士に相談してください。",
    "zh": "你应该在签字前咨询律师。",
    "ar": "يجب عليك استشارة محام قبل التوقيع على عقد الإيجار.",
}


@pytest.mark.parametrize("code", SAMPLES)
def test_a_sentence_is_told_by_its_language(code):
    assert score("language", SAMPLES[code], language=code) == 1
    assert score("language", SAMPLES[code], language=code, negate=True) == 0
    assert score("language", SAMPLES[code], language="pt") == 0


def test_code_is_left_out():
    code = "```python\nfor number in range(10):\n    print(number)\n```\n" * 20
    assert score("language", f"{SAMPLES['de']}\n{code}{SAMPLES['de']}", language="de") == 1


@pytest.mark.parametrize("text", ["", "OK", "42", "Yes.", "```\nonly code\n```", "!!! ???"])
@pytest.mark.parametrize("negate", [False, True])
def test_too_little_text_gives_no_value(text, negate):
    assert "too short" in error_of("language", text, language="en", negate=negate)


def test_a_variety_is_its_language():
    assert score("language", "佢哋喺度做緊乜嘢呀？我唔知道喎。", language="zh") == 1
    assert score("language", "佢哋喺度做緊乜嘢呀？我唔知道喎。", language="yue") == 1


def test_the_same_text_always_gives_the_same():
    material = Material(SAMPLES["fr"])
    assert len({run("language", {"language": "fr"}, material) for _ in range(5)}) == 1


@pytest.mark.parametrize("code", ["english", "EN", "", "xx", "zxx", 1, None])
def test_the_language_is_a_known_code(code):
    assert "“language”" in problem("language", language=code)
