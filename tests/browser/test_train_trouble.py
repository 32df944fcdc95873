"""The Train page when things go wrong, or somebody else trains too: what it says, and that it goes on."""

import os
import re
import resource
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest
from playwright.sync_api import expect
from train_page import NARROW, RUN, Train, lab_of

import mirada
from conftest import MIRADA

linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux shows which processes there are")


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> Path:
    runs = tmp_path_factory.mktemp("runs")
    mirada.train("reverse", out=runs / "hecho")
    return runs


@pytest.fixture(scope="module")
def lab(runs) -> Iterator[str]:
    with lab_of(runs) as address:
        yield address


@pytest.fixture
def open_train(open_page, lab) -> Callable[..., Train]:
    def open_(run: str = "hecho", **options) -> Train:
        train = Train(open_page(f"{lab}/train?lang=es#{run}", **options))
        if run == "hecho":
            train.state("terminado")  # until then, what the form says is not yet its own
        return train

    return open_


def processes(what: str, runs: Path) -> list[int]:
    """Those of the lab with these runs whose command says `what`."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            ours = f"MIRADA_RUNS={runs}".encode() in (place / "environ").read_bytes().split(b"\0")
            if ours and what.encode() in (place / "cmdline").read_bytes().split(b"\0"):
                found.append(int(place.name))
    return found


@linux
def test_a_run_that_is_killed_says_so_and_goes_on(open_train, runs):
    train = open_train()
    train.start(épocas="12")
    train.state(re.compile(r"aprende, paso [1-9]\d* de 3756"))
    (worker,) = processes("mirada.lab.worker", runs)
    os.kill(worker, signal.SIGKILL)
    train.state("ha fallado")
    train.says("terminó antes de tiempo (código -9)")
    train.says(re.compile(r"al reanudarlo sigue desde el paso \d+"))
    expect(train.page.get_by_role("status")).to_contain_text("El entrenamiento ha fallado.")
    train.button("Continuar").click()
    train.state(re.compile(r"aprende, paso [1-9]\d* de 3756"))
    expect(train.main).not_to_contain_text("antes de tiempo")
    train.button("Cancelar").click()
    train.state("cancelado")


@linux
def test_a_full_disk_is_said_and_with_room_again_it_goes_on(open_page, tmp_path):
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (700, hard))  # what the lab and its workers may write
    with ExitStack() as held:
        try:
            address = held.enter_context(lab_of(tmp_path))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        train = Train(open_page(f"{address}/train?lang=es"))
        train.start()
        train.state("ha fallado")
        train.says(re.compile(r"Este entrenamiento ha fallado\. No se puede escribir"))
        (server,) = processes("lab", tmp_path)
        resource.prlimit(server, resource.RLIMIT_FSIZE, (soft, hard))
        train.button("Continuar").click()
        train.state(f"terminado, 100,0{NARROW}% acertadas")
        train.says("lo escribe.")  # the lab is not closed before it has answered


def test_a_run_from_the_command_line_is_followed_while_it_goes_on(open_train, runs):
    train = open_train()
    command = [*MIRADA, "train", "copy", "--epochs", "60", "--out", str(runs / "terminal")]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as program:
        try:
            link = train.page.get_by_role("link", name=re.compile("^terminal"))
            expect(link).to_be_visible(timeout=RUN)
            link.click()
            train.state(re.compile(r"aprende, paso [1-9]\d* de 18780"))
            step = int(re.findall(r"paso (\d+)", train.main.locator(".which").inner_text())[0])
            train.page.wait_for_function(
                "step => +document.querySelector('.which').textContent.match(/paso (\\d+)/)[1] > step",
                arg=step,
                timeout=RUN,
            )
            expect(train.button("Pausa")).to_have_count(0)  # it is stopped where it was begun
            program.send_signal(signal.SIGINT)
            train.state(re.compile(r"en pausa en el paso \d+ de 18780"))
        finally:
            program.kill()
    train.button("Cancelar").click()
    train.state("cancelado")


def test_a_run_whose_file_is_damaged_is_listed_and_says_what_to_do(open_train, runs):
    (runs / "roto").mkdir()
    (runs / "roto" / "run.json").write_text('{"task"')
    train = open_train()
    train.page.get_by_role("link", name=re.compile("^roto")).click()
    train.state("ha fallado")
    train.says("Pon en su lugar una copia de ese archivo")
    expect(train.button("Continuar")).to_have_count(0)
    expect(train.ask).to_have_count(0)  # it cannot be asked
    expect(train.main.locator(".lead")).not_to_contain_text("?")
    train.page.get_by_role("link", name=re.compile("^hecho")).click()
    train.state("terminado")


def test_what_was_chosen_while_the_lab_was_slow_stays_chosen(open_page, lab):
    page = open_page(f"{lab}/train?lang=es#hecho")
    expect(page.locator(".which")).to_contain_text("hecho", timeout=RUN)
    held = []
    page.route(re.compile(r"/api/runs/hecho(\?|$)"), lambda route: held.append(route))
    page.reload()
    epochs = page.get_by_label("épocas", exact=True)
    expect(epochs).to_be_enabled(timeout=RUN)
    epochs.select_option("12")
    assert held, "the page asks for the run before it has any choice to offer"
    for route in held:
        route.continue_()
    expect(page.locator(".which")).to_contain_text("terminado", timeout=RUN)
    expect(epochs).to_have_value("12")


def test_two_runs_learn_and_a_third_waits_in_line(open_train):
    train = open_train(run="hecho")
    for _ in range(3):
        train.start(épocas="12")
    train.state("espera, número 1 en la cola")
    train.button("Cancelar").click()
    train.state("cancelado")
    for link in train.page.get_by_role("link").filter(has_text=re.compile("aprende")).all()[::-1]:
        link.click()
        train.button("Cancelar").click()
        train.state("cancelado")


def test_a_lost_connection_is_said_and_found_again(open_train):
    train = open_train(run="hecho", forgive="net::ERR|Failed to fetch")
    train.page.route("**/events**", lambda route: route.abort("connectionrefused"))
    train.start(épocas="12")
    train.says("Se ha perdido la conexión con el laboratorio.")
    train.page.unroute("**/events**")
    train.button("Intentar ahora").click()
    train.state(re.compile(r"aprende, paso [1-9]"))
    expect(train.main).not_to_contain_text("Se ha perdido la conexión")
    train.button("Cancelar").click()
    train.state("cancelado")


def test_a_refusal_and_a_failure_are_the_labs_own_sentences(open_train):
    train = open_train(run="hecho", forgive="status of 429")
    train.state("terminado")
    refusal = {"error": {"code": "line_full", "message": "La cola está llena."}}
    train.page.route(
        "**/api/runs?**",
        lambda r: r.fulfill(status=429, json=refusal) if r.request.method == "POST" else r.fallback(),
    )
    train.button("Entrenar otro").click()
    expect(train.alert).to_have_text("La cola está llena.")

    def fail(route):
        answer = route.fetch()
        failed = {"state": "failed", "step": 100, "error": "El disco está lleno."}
        route.fulfill(response=answer, json=answer.json() | failed)

    train.page.unroute("**/api/runs?**")
    train.page.route("**/api/runs/hecho?**", fail)
    train.page.reload()
    train.says("Este entrenamiento ha fallado. El disco está lleno.")
    expect(train.button("Continuar")).to_be_visible()


def test_an_unknown_run_is_a_sentence_and_the_page_still_works(open_train):
    train = open_train(run="nadie", forgive="status of 404")
    expect(train.alert).to_have_text("No hay ningún entrenamiento con ese nombre.")
    train.page.get_by_role("link", name=re.compile("^hecho")).click()
    train.state("terminado")
    expect(train.alert).to_have_count(0)
