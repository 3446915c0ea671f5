from drf_spectacular.generators import SchemaGenerator

from tests import client_shapes


def test_shapes_are_those_of_the_schema():
    """If not: `python -m tests.client_shapes` writes them anew."""
    schema = SchemaGenerator().get_schema(request=None, public=True)

    assert client_shapes.is_current(schema["components"]["schemas"])
