"""Builds the lesson's site: `python lesson/site/build.py`.

Both languages, from nothing, each chapter's code run; any error or warning ends it.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
START = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Mirada</title>
<script>location.replace(/^es\\b/i.test(navigator.language) ? "es/index.html" : "en/index.html")</script>
<p><a href="es/index.html" lang="es">La lección, en español</a></p>
<p><a href="en/index.html">The lesson, in English</a></p>
</html>
"""


def build(language: str, out: Path, run: bool) -> bool:
    """Builds one tree, and says whether all went well."""
    shutil.rmtree(out / language, ignore_errors=True)
    with tempfile.TemporaryDirectory() as work:
        done = subprocess.run(command(language, out, work), env=environment(language, run, work), check=False)
    shutil.rmtree(out / "jupyter_execute", ignore_errors=True)  # the notebooks as run, which nobody asked for
    return done.returncode == 0


def command(language: str, out: Path, work: str) -> list[str | Path]:
    strict = ["-W", "--keep-going", "-q"]
    places = ["-c", HERE, "-d", Path(work, "doctrees"), HERE.parent / language, out / language]
    return [sys.executable, "-m", "sphinx", "-b", "html", *strict, *places]


def environment(language: str, run: bool, work: str) -> dict[str, str]:
    profile = Path(work, "profile_default")
    profile.mkdir()
    # A kernel that knows nothing of this computer's own settings, and is silent.
    (profile / "ipython_kernel_config.py").write_text("c = get_config()\nc.IPKernelApp.log_level = 40\n")
    return os.environ | {
        "IPYTHONDIR": work,
        "LESSON_LANGUAGE": language,
        "LESSON_RUN": "1" if run else "0",
        "MIRADA_HOME": str(Path(work, "home")),  # not the builder's own progress in the exercises
        "MIRADA_LANG": language,  # the exercises' verdicts
        "OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS", "1"),  # small models are quickest with one
    }


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--out", type=Path, default=ROOT / "build/site")
    options.add_argument("--language", choices=("es", "en"), help="only this one")
    options.add_argument("--no-run", action="store_true", help="show the code without running it")
    chosen = options.parse_args()
    languages = (chosen.language,) if chosen.language else ("es", "en")
    well = [build(language, chosen.out.resolve(), not chosen.no_run) for language in languages]
    if not all(well):
        sys.exit(1)
    (chosen.out / "index.html").write_text(START, "utf-8")


if __name__ == "__main__":
    main()
