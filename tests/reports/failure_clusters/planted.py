"""Reasons against answers: three planted kinds of failure, and failures unlike each other."""

PLANTED = {
    "dates": (
        "The answer swaps day and month: 03/04 is 3 April, not 4 March.",
        "It reads the month first, so the date is wrong.",
        "Wrong date: the day comes first on a British form, and the answer takes it for the month.",
        "Day and month are confused; 5 June was expected.",
        "The date is read in American order, month before day.",
    ),
    "sources": (
        "The answer cites a paper that does not exist.",
        "It invents a source: no such paper was published.",
        "The paper given as a source is fabricated and cannot be found.",
        "Cites a fabricated paper as its source.",
    ),
    "language": (
        "The question was in French, but the answer is in English.",
        "It replies in English although the user wrote in German.",
        "Wrong language: the user asked in Spanish and gets an English reply.",
        "The reply is in English, not in the language of the question.",
        "Answers in English instead of the French that the user wrote.",
    ),
}
UNLIKE = (
    "The sum is 41, and the answer says 40.",
    "The poem has three lines; two were asked.",
    "The function raises an error on an empty list.",
    "It forgets that Canberra is the capital of Australia.",
    "No tide table is named.",
)
BEFORE = (
    "The model's answer was checked against the guidelines of this test.",
    "Looking at the response as a whole, it was compared with the requirement.",
    "The response is fluent and well structured.",
)
PASSED = "It gives the expected answer and keeps to the guidelines."


def in_judges_words(number: int, reason: str) -> str:
    """A reason after one of the phrases that judges always write."""
    return f"{BEFORE[number % 3]} {reason}"
