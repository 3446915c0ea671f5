import subprocess
import sys
from importlib.metadata import PackageNotFoundError

import pytest

from evalhub.llm import word_vectors
from evalhub.statistics.cosine import cosine

NEAR = [
    ("The cat sat on the mat.", "A cat was sitting on the rug."),
    ("Paris is the capital of France.", "France's capital city is Paris."),
    ("I cannot help with that request.", "Sorry, I'm unable to assist with this."),
    ("It returns the sum of both numbers.", "It gives back the two values added together."),
]
FAR = [
    ("The cat sat on the mat.", "Interest rates were raised by the central bank."),
    ("Paris is the capital of France.", "It returns the sum of both numbers."),
    ("I cannot help with that request.", "Water boils at 100 degrees Celsius."),
]


def text_similarity(pair):
    return cosine(*map(word_vectors.embed, pair))


def test_paraphrases_are_nearer_than_what_is_unrelated():
    assert min(map(text_similarity, NEAR)) > max(map(text_similarity, FAR)) + 0.1


def test_text_is_nearest_to_itself():
    assert text_similarity(["One text."] * 2) == pytest.approx(1)


def test_known_vector():
    # The package's own code gives these numbers for this text.
    vector = word_vectors.embed("The cat sat on the mat.")
    assert len(vector) == 256
    assert list(vector[:3]) == pytest.approx([-0.23360117, 0.1388141, -0.22970581])


def test_text_without_words_has_no_direction():
    assert cosine(word_vectors.embed(""), word_vectors.embed("word")) is None


def test_long_text_is_not_cut():
    start = "The cat sat on the mat. " * 2000
    assert text_similarity([start, start + "Interest rates were raised. " * 2000]) < 0.95


def test_a_vector_is_kept_and_its_text_is_not():
    text = "A text that nothing else embeds. " * 10_000
    held = sys.getrefcount(text)

    assert word_vectors.embed(text) is word_vectors.embed(text)
    assert sys.getrefcount(text) == held


def test_missing_package_says_what_to_install(monkeypatch):
    def missing(name):
        raise PackageNotFoundError(name)

    monkeypatch.setattr(word_vectors, "distribution", missing)
    with pytest.raises(word_vectors.NoWordVectors, match="pip install --no-deps wordllama"):
        word_vectors.WordVectors()


def test_nothing_of_it_is_loaded_before_it_is_needed():
    code = (
        "import sys; from evalhub.llm import word_vectors;"
        "sys.exit('tokenizers' in sys.modules or 'wordllama' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_packages_own_code_is_not_run():
    code = (
        "import sys; from evalhub.llm.word_vectors import embed; embed('a text');"
        "sys.exit('wordllama' in sys.modules or 'numpy' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
