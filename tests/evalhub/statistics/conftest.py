"""Reference values for the statistics. Imported where it is asked for: it takes a second."""

from importlib import import_module

import pytest


@pytest.fixture(scope="session")
def scipy_stats():
    return import_module("scipy.stats")


@pytest.fixture(scope="session")
def multitest():
    return import_module("statsmodels.stats.multitest")


@pytest.fixture(scope="session")
def contingency_tables():
    return import_module("statsmodels.stats.contingency_tables")


@pytest.fixture(scope="session")
def linear_model():
    return import_module("statsmodels.regression.linear_model")


@pytest.fixture(scope="session")
def glm():
    return import_module("statsmodels.genmod.generalized_linear_model")


@pytest.fixture(scope="session")
def optimize():
    return import_module("scipy.optimize")
