"""Rows for tests: plain functions, each with the least that its row needs."""

from itertools import count
from typing import Any

from evalhub.models import LanguageModel, User
from issues.content.revisions import freeze
from issues.judge_templates.builtin import BUILTIN
from issues.models import Issue, IssueState, JudgeTemplate, Tag, TemplateState, Test, TestState
from runs.launching.launch import add_judge_run, add_results
from runs.models import Approach, Judge, Jury, Result, Run

number = count(1)


def make_user(role: str = "", **fields: Any) -> User:
    """A person with the rights of one role; "" has none, "superuser" all."""
    from django.contrib.auth.models import Group

    name = fields.pop("username", f"person{next(number)}")
    if role == "superuser":
        return User.objects.create_superuser(name, password="secret-phrase", **fields)
    given = {"password": "secret-phrase", "is_staff": True} | fields
    user = User.objects.create_user(name, **given)
    if role:  # without a version of the user for the change of groups, which takes as long again
        user.groups.through.objects.create(user=user, group=Group.objects.get(name=role))
    return user


def make_model(**fields: Any) -> LanguageModel:
    n = next(number)
    defaults = {"name": f"model {n}", "litellm_model": f"openai/model-{n}"}
    return LanguageModel.objects.create(**(defaults | fields))


def make_template(**fields: Any) -> JudgeTemplate:
    """A published template with the wording of the first built-in one."""
    n = next(number)
    defaults = {
        "family": f"template-{n}",
        "title": f"Template {n}",
        "text": BUILTIN[0].text,
        "state": TemplateState.PUBLISHED,
    }
    return JudgeTemplate.objects.create(**(defaults | fields))


def make_issue(*, tags: tuple[str, ...] = (), **fields: Any) -> Issue:
    defaults = {"title": f"Issue {next(number)}", "state": IssueState.APPROVED}
    issue = Issue.objects.create(**(defaults | fields))
    if tags:
        issue.tags.set([Tag.objects.get_or_create(name=name)[0] for name in tags])
    return issue


def make_test(prompt: str = "What is 2 + 2?", **fields: Any) -> Test:
    """An approved test; `criteria` are the fields of each point of its rubric, in order."""
    defaults = {
        "messages": [{"role": "user", "content": prompt}],
        "reference": "4",
        "guidelines": "The answer is 4.",
        "state": TestState.APPROVED,
    }
    fields.setdefault("issue", None) or fields.update(issue=make_issue())
    fields.setdefault("template", None) or fields.update(template=make_template())
    criteria = fields.pop("criteria", ())
    test = Test.objects.create(**(defaults | fields))
    for order, criterion in enumerate(criteria, 1):
        test.criteria.create(order=order, **criterion)
    return test


def make_tests(n: int, **fields: Any) -> list[Test]:
    """So many approved tests of one template, each of an issue of its own."""
    fields.setdefault("template", None) or fields.update(template=make_template())
    return [make_test(f"Question {k}?", **fields) for k in range(n)]


def make_jury(
    *models: LanguageModel, approaches: tuple[str, ...] = (Approach.TEMPLATE,), **fields: Any
) -> Jury:
    """A jury of one judge for each model and approach."""
    jury = Jury.objects.create(**({"name": f"jury {next(number)}"} | fields))
    jury.judges.set(
        Judge.objects.given(model, approach=approach) for model in models for approach in approaches
    )
    return jury


def shared_jury(judges: int = 1) -> Jury:
    """The same jury of so many judges at every call, so that runs judged by it are comparable."""
    jury, is_new = Jury.objects.get_or_create(name=f"shared jury of {judges}")
    if is_new:
        names = [f"shared judge {n}" for n in range(1, judges + 1)]
        models = [LanguageModel.objects.filter(name=name).first() for name in names]
        found = [m or make_model(name=n) for m, n in zip(models, names, strict=True)]
        jury.judges.set(Judge.objects.given(model, approach=Approach.TEMPLATE) for model in found)
    return jury


def make_run(
    *tests: Test, model: LanguageModel | None = None, jury: Jury | None = None, **fields: Any
) -> Run:
    """A run as `launch` makes it: pending results, and one current judging by the jury."""
    model = model or make_model()
    defaults = {"label": f"run {next(number)}", "variant_key": "v", "suite_fingerprint": "s"}
    run = Run.objects.create(
        **(
            defaults
            | {
                "language_model": model,
                "model_name": model.name,
                "endpoint": model.endpoint().to_json(),
            }
            | fields
        )
    )
    tests = tests or (make_test(),)
    add_results(run, list(tests), freeze(tests))
    judges = list(jury.judges.all()) if jury else []
    backup = jury.backup if jury else None
    add_judge_run(run, judges, name=str(jury or ""), active=True, backup=backup)
    return run


def first_result(run: Run) -> Result:
    return run.results.order_by("pk")[0]  # type: ignore[no-any-return]
