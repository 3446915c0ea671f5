"""Deletes files of installed packages that EvalHub never reads, and prints what is left.

    python deploy/prune.py [SITE_PACKAGES]

For images only: what is deleted is data of uses that EvalHub does not have. Standard library only.
"""

import shutil
import sys
import sysconfig
from pathlib import Path

UNREAD = (
    "litellm/proxy/_experimental",  # pages of LiteLLM's own server
    "litellm/proxy/swagger",
    "litellm/proxy/_lazy_openapi_snapshot.json",
    "litellm/llms/huggingface/huggingface_llms_metadata",
    "litellm/rust_bridge/*.so",  # a second implementation, loaded only by that server
    "plotly/validators",  # of plotly only its JavaScript is served
    "plotly/labextension",
    "plotly/graph_objs",
    "plotly/package_data/widgetbundle.js",
    "plotly/package_data/datasets",
    "share/jupyter",  # where pip put it with --target
    "pillow.libs/libavif*",  # a form of images that is not taken
    "django/contrib/gis",
    "rest_framework/static",  # of pages that the API has not
    "pyphen/dictionaries/hyph_[a-df-z]*",  # no page is hyphenated
    "numpy/f2py",
    "numpy/**/tests",
    "numpy/_core/include",
    "wordllama/algorithms",  # of wordllama only its vectors are read
    "**/LC_MESSAGES",  # no page is translated
    "drf_spectacular_sidecar/static/drf_spectacular_sidecar/redoc",
    "**/*.a",
    "**/*.map",
    "**/*.pyx",
    "**/*.c",
    "**/*.cpp",
    "**/*.pyi",
)


def main(folder: Path) -> None:
    before = size_of(folder)
    for pattern in UNREAD:
        for path in sorted(folder.glob(pattern)):
            if path.is_dir():
                shutil.rmtree(path)
            elif path.exists():
                path.unlink()
    print(f"{before / 1e6:.0f} MB of packages before, {size_of(folder) / 1e6:.0f} MB after")


def size_of(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


if __name__ == "__main__":
    main(Path(sys.argv[1] if sys.argv[1:] else sysconfig.get_path("purelib")))
