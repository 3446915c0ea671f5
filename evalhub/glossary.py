"""The terms of EvalHub, each explained in one line. Pure."""

from typing import NamedTuple


class Term(NamedTuple):
    name: str
    explanation: str

    @property
    def anchor(self) -> str:
        return self.name.lower().replace("–", "-").replace(" ", "-")


TERMS = tuple(
    Term(name, explanation)
    for name, explanation in (
        ("active judge run", "The judge run whose scores a run's reports and pass rate use."),
        ("adjudication", "A final human verdict on a disputed result; it outranks all others."),
        ("agreement", "How often judges or annotators give the same verdict on the same answer."),
        ("alpha", "Krippendorff's alpha: agreement beyond chance; 1 is perfect, 0 is chance."),
        ("alternative", "One of several sets of criteria of a rubric, any of which suffices."),
        ("analyst", "The model that writes an executive summary."),
        ("annotator", "A user who evaluates answers."),
        ("answer", "The model's reply to a test."),
        ("attempt", "One pass of a judge over both splits of a judge tuning, with a draft prompt."),
        ("baseline", "The run that later runs of its model in a suite are compared with."),
        ("benchmark", "Claims of known truth about texts, on which judges are tried."),
        ("call", "One request to a model, with its tokens, cost, latency and error."),
        ("capability", "A broad skill, scored from weighted dimensions, topics and suites."),
        ("check", "A criterion decided by code, such as an exact or a regular-expression match."),
        ("confidence interval", "The range that contains the true value with 95% confidence."),
        ("coverage", "Share of the expected verdicts that judges or annotators actually gave."),
        ("criterion", "One requirement on an answer, with a weight and a judge or check."),
        ("criterion library", "Ready criteria with options and examples, for rubrics and judges."),
        ("detectable change", "The smallest loss that a comparison shows in 80%."),
        ("developer", "The organisation that made a model; the provider serves it."),
        ("development split", "Tests of a judge tuning that you read and take examples from."),
        ("discordance", "Share of matched tests with different outcomes in two runs."),
        ("dispute", "A result whose human verdicts differ; it needs adjudication."),
        ("draft", "An unpublished version that can still be edited, such as of a judge template."),
        ("drift", "A change in a model's results under the same tests, settings and judges."),
        ("embedding", "A text as a vector of numbers, used to measure similarity."),
        ("error", "Outcome of a result without an answer, such as after a failed call."),
        ("executive summary", "A short text on one or more runs, written by an analyst."),
        ("exposure", "A record that a sealed test's text was revealed, sent outside, or opened."),
        ("failed", "Outcome of a result whose score is below its pass threshold."),
        ("failure cluster", "Failed answers of a run that judges reject in similar words."),
        ("feedback", "A report of something that a model got wrong; it may become an issue."),
        ("flaky", "Passing and failing at different times without a change of model or test."),
        (
            "gate",
            "The rules of a suite that decide whether a run passes, for CI and notifications.",
        ),
        ("heat map", "A grid of pass rates, such as of models by tags."),
        ("held-out split", "Tests of a judge tuning with figures only, to prove an improvement."),
        (
            "human evaluation",
            "A person's verdict on an answer or criterion; it outranks judgments.",
        ),
        ("incomplete run", "A finished run with less than 95% of its results scored; not ranked."),
        ("issue", "A weakness of models, with feedback that shows it and tests that measure it."),
        (
            "judge",
            "A model with settings and a template that decides whether answers meet criteria.",
        ),
        ("judge run", "One jury's pass over the answers of a run."),
        ("judge template", "The versioned prompt, scale and examples with which judges are asked."),
        (
            "judge tuning",
            "Improving a judge's prompt against human verdicts, on two splits of tests.",
        ),
        ("judgment", "The reply of a judge or check on one criterion of an answer."),
        ("jury", "A set of judges whose verdicts are combined into one score."),
        ("kappa", "Cohen's kappa: agreement of two raters beyond chance; 1 is perfect, 0 chance."),
        ("labelled example", "An answer with a human verdict, used to tune a judge."),
        ("launch", "A request to run a suite on one or more models; it creates their runs."),
        ("leaderboard", "A ranking of models by their scores over several suites."),
        ("length bias", "A judge's preference for longer answers."),
        ("model under test", "The model whose answers a run collects."),
        ("outcome", "State of a result: passed, failed, unscored, error or pending."),
        ("override", "A human verdict that replaces the outcome given by the judges."),
        ("p-value", "Probability of a difference at least this large if there were none."),
        ("pairwise judge run", "A judge's pass over pairs of answers, each in both orders."),
        ("pass threshold", "The score from which an answer passes."),
        ("passed", "Outcome of a result whose score reaches its pass threshold."),
        ("pending", "Outcome of a result that is still waiting for its answer or judgments."),
        (
            "position bias",
            "A change of a judge's verdict when what it is shown is reversed.",
        ),
        ("precision", "Share of the answers failed by a judge that annotators fail too."),
        ("prompt variant", "A judge template's prompt for one particular model."),
        ("provider", "The service that answers a model's calls."),
        ("recall", "Share of the answers failed by annotators that the judge fails too."),
        ("reference", "A correct answer of a test, shown to judges and checks for comparison."),
        ("release", "A named state of what is tested. Runs are compared with its predecessor."),
        (
            "repair model",
            "The model that rewrites a judge's unreadable reply in the expected format.",
        ),
        ("replay", "A path of a benchmark made again with the model under test."),
        ("result", "One test's answer in a run, with its judgments, score and outcome."),
        ("reversed judge run", "A repetition of verdicts with the options in reversed order."),
        ("review queue", "A list of results for annotators to evaluate one after another."),
        ("revision", "The frozen state of a test at a run; editing the test creates a new one."),
        ("rubric", "The criteria of a test, with weights, alternatives and a pass threshold."),
        ("run", "One model's answers to all tests of a suite, with their scores."),
        ("sample", "One of several repeated answers or judgments for the same prompt."),
        ("scale", "The options a judge chooses from, with their values from 0 to 1."),
        ("schedule", "Repeated times at which a suite is launched or a report is saved."),
        ("score", "A number from 0 to 1 made of an answer's judgments or human evaluations."),
        ("scripted model", "A model with prepared replies, for demos; its figures are labelled."),
        ("sealed", "Hidden from models and most users, so that nobody can train on the test."),
        ("self-evaluation", "A judge's verdicts on answers of its own model or family."),
        ("severity", "How bad an issue is for users; reports can sort and filter by it."),
        ("significant", "Unlikely to be chance: p below 0.05, corrected for many comparisons."),
        ("similarity", "Closeness of two texts in meaning, from their embeddings."),
        ("snapshot", "A saved copy of a scheduled report, as it was at that time."),
        (
            "suite",
            "A named set of tests, or a filter of them, that runs and comparisons use together.",
        ),
        ("tag", "A label of tests and issues, by which reports group results."),
        ("test", "A prompt for models, with the rubric or check that scores their answers."),
        ("trend", "How a model's results change over its releases or over time."),
        ("unscored", "Outcome of an answer without a verdict, such as after judge errors."),
        ("webhook", "An address outside that EvalHub notifies of runs, issues and reviews."),
        ("win rate", "Share of pairs of answers that a run wins, a tie being half a win."),
        ("worker", "A background process that makes calls and saves their results."),
    )
)
BY_NAME = {term.name: term for term in TERMS}
