"""The pages in a real browser: the whole story from a file to a shared address, hostile tables, keyboard and phone.

The run keeps what it sees as pictures of the documentation where DOVETAIL_PICTURES names a folder.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

import dovetail
from support.pipeline import without_spark
from support.sample import SAMPLE_LAKE
from support.served import serving

pytestmark = pytest.mark.full
CHROMIUM = "/usr/bin/chromium"
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync"]  # fmt: skip
SCRIPT = "<script>window.hacked = 1</script><img src=x onerror='window.hacked = 1'>"
PEOPLE = [("Ada", "Lovelace"), ("Grace", "Hopper"), ("Alan", "Turing"), ("Edsger", "Dijkstra"), ("Barbara", "Liskov"),
          ("Donald", "Knuth"), ("John", "Backus"), ("Frances", "Allen")]  # fmt: skip
LOGINS = "login,room\n" + "".join(f"{first[0].lower()}.{last.lower()},{n}\n" for n, (first, last) in enumerate(PEOPLE))
PATIENCE = 60_000  # milliseconds: kernels may have to compile
expect.set_options(timeout=PATIENCE)


@pytest.fixture(scope="module")
def browser():
    with sync_playwright() as tools:
        browser = tools.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    lake = shutil.copytree(SAMPLE_LAKE, folder / "lake")
    hostile = f'"{SCRIPT}",code\n"{SCRIPT}",AD\n'
    (lake / "hostile.csv").write_text(
        hostile + "".join(f"row {n},{code}\n" for n, code in enumerate(["AE", "AF", "AG"]))
    )
    with without_spark():
        dovetail.index(lake, folder / "idx")
    with serving(folder / "idx") as address:
        yield address


def opened(browser: Browser, address: str, **options) -> Page:
    """A page in a browser of its own, which fails where another host is asked or a script of the page fails."""
    page = browser.new_context(viewport={"width": 1200, "height": 850}, **options).new_page()
    page.set_default_timeout(PATIENCE)
    page.faults = []  # type: ignore[attr-defined]
    page.on("request", lambda asked: page.faults.append(asked.url) if not _is_here(asked.url, address) else None)  # type: ignore[attr-defined]
    page.on("pageerror", lambda error: page.faults.append(str(error)))  # type: ignore[attr-defined]
    return page


def _is_here(url: str, address: str) -> bool:
    return url.startswith((address, address.replace("http", "ws"), "data:", "blob:"))


def picture(page: Page, name: str) -> None:
    folder = os.environ.get("DOVETAIL_PICTURES")
    if folder:
        page.wait_for_timeout(500)
        page.screenshot(path=Path(folder) / f"page-{name}.png")


def settled(page: Page) -> None:
    expect(page.locator("[role=status]")).to_have_count(0)


def test_from_a_file_to_a_shared_address(browser, address, tmp_path):
    mine = tmp_path / "visits.csv"
    mine.write_text("country,visits\nPeru,4\nJapan,7\nFrance,12\nKenya,3\nNowhere,9\nBrazil,5\nItaly,8\n")
    page = opened(browser, address)
    page.goto(address)
    expect(page.get_by_role("heading", name="What joins with your table?")).to_be_visible()
    page.locator("input[type=file]").set_input_files(mine)
    expect(page.get_by_role("heading", name="What joins with visits.csv?")).to_be_visible()
    settled(page)
    picture(page, "search")
    page.get_by_role("button", name="country", exact=True).click()
    hit = page.locator("article", has_text="geo/countries.csv").first
    expect(hit).to_be_visible()
    settled(page)
    hit.get_by_role("button", name="Join", exact=True).click()
    expect(page.get_by_role("button", name="Make the join")).to_be_visible()
    expect(page.get_by_text("6 of 7 rows on the left match")).to_be_visible()
    picture(page, "join")
    page.get_by_role("button", name="Make the join").click()
    expect(page.get_by_role("heading", name="visits.csv + countries.csv")).to_be_visible()
    expect(page.locator(".ag-cell", has_text="Italia")).to_be_visible()
    page.get_by_label("SQL").fill("SELECT Continent, sum(visits) AS visits FROM result GROUP BY 1 ORDER BY 2 DESC")
    page.get_by_role("button", name="Run").click()
    expect(page.get_by_role("link", name="Go on with this result")).to_be_visible()
    page.get_by_role("button", name="Run").scroll_into_view_if_needed()
    picture(page, "sql")
    page.get_by_role("link", name="Go on with this result").click()
    expect(page.get_by_role("link", name="joined with geo/countries.csv")).to_be_visible()
    shared = page.url
    other = opened(browser, address)
    other.goto(shared)
    expect(other.locator(".ag-cell", has_text="South America")).to_be_visible()
    with other.expect_download() as download:
        other.get_by_role("link", name="CSV", exact=True).click()
    assert "South America,9" in Path(download.value.path()).read_text()
    other.get_by_role("link", name="visits.csv").first.click()
    expect(other.locator(".ag-cell", has_text="Nowhere")).to_be_visible()
    assert not page.faults and not other.faults


def test_hostile_tables_are_shown_as_text(browser, address, tmp_path):
    many = ",".join(f"c{n}" for n in range(10_000))
    tables = {
        "script.csv": f'"{SCRIPT}",code\n"{SCRIPT}",AD\n=1+1,AE\n',
        "wide.csv": f"{many}\n{','.join(map(str, range(10_000)))}\n",
        "letters.csv": "name,mark\nمصر,🦉\n\N{RIGHT-TO-LEFT OVERRIDE}evil,👩‍👩‍👧\n",
        f"{SCRIPT.replace('/', '_')}.csv": "code,n\nAD,1\nAE,2\n",
    }
    page = opened(browser, address)
    for name, text in tables.items():
        page.goto(address)
        upload = {"name": name, "mimeType": "text/csv", "buffer": text.encode()}
        page.locator("input[type=file]").set_input_files(upload)  # type: ignore[arg-type]
        page.wait_for_url("**/search?*")
        if name != "wide.csv":  # a search with 10,000 columns takes longer than anybody waits, and ends when they leave
            settled(page)
        page.goto(page.url.replace("/search?", "/rows?"))
        expect(page.locator(".ag-root")).to_be_visible()
        assert page.evaluate("window.hacked") is None, name
    for path in ("/tables/hostile.csv", "/search?table=hostile.csv", "/join?table=hostile.csv&with=geo/countries.csv"):
        page.goto(address + path)
        expect(page.get_by_text("window.hacked").first).to_be_attached()
        assert page.evaluate("window.hacked") is None, path
    assert not page.faults


def test_the_lake_and_its_graph(browser, address):
    page = opened(browser, address)
    page.goto(f"{address}/tables")
    expect(page.locator(".ag-cell", has_text="geo/capitals.csv")).to_be_visible()
    page.get_by_placeholder("Part of a name, or a value").fill("countries")
    page.keyboard.press("Enter")
    page.locator(".ag-cell", has_text="geo/countries.csv").click()
    expect(page.get_by_role("heading", name="geo/countries.csv")).to_be_visible()
    expect(page.get_by_text("Andorra la Vella")).to_be_visible()
    picture(page, "table")
    page.get_by_role("link", name="In the graph").click()
    expect(page.get_by_text("values occur among its").first).to_be_visible()
    picture(page, "graph")
    page.get_by_role("button", name="All components").click()
    page.get_by_role("button", name="around countries.csv").first.press("Enter")
    expect(page.get_by_role("heading", name="connected tables")).to_be_visible()
    page.get_by_label("Find a table").fill("elements")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="science/elements.csv")).to_be_visible()
    assert "table=science" in page.url
    assert not page.faults


def test_decisions_by_hand(browser, address):
    page = opened(browser, address)
    page.goto(f"{address}/search?table=geo/capitals.csv&on=country")
    settled(page)
    hit = page.locator("article").first
    table = hit.get_by_role("heading").inner_text()
    hit.get_by_role("button", name="Never").click()
    expect(hit.get_by_text("never join")).to_be_visible()
    page.reload()
    settled(page)
    assert table not in [each.inner_text() for each in page.locator("article h2").all()]
    page.goto(f"{address}/decisions")
    expect(page.get_by_role("link", name=table)).to_be_visible()
    page.get_by_role("button", name="Forget").click()
    expect(page.get_by_text("Nothing was decided yet.")).to_be_visible()
    assert not page.faults


def sent(page: Page, address: str, name: str, text: str) -> str:
    """The name of a table that was sent from the first page."""
    page.goto(address)
    upload = {"name": name, "mimeType": "text/csv", "buffer": text.encode()}
    page.locator("input[type=file]").set_input_files(upload)  # type: ignore[arg-type]
    page.wait_for_url("**/search?*")
    return page.url.partition("table=")[2]


def test_pairs_of_values_by_hand(browser, address):
    """What is accepted or rejected is kept, and the count follows; also for a table that somebody sent."""
    page = opened(browser, address)
    mine = sent(page, address, "pairs.csv", "country,n\nPeru,4\nJapan,7\nFrance,12\nSouth Koreaa,8\nItalyy,2\n")
    page.goto(f"{address}/join?table={mine}&with=geo/countries.csv&on=country=Name&by=similar")
    expect(page.get_by_text("5 of 5 rows on the left match")).to_be_visible()
    line = page.locator(".dt-line", has_text="Italyy")
    line.get_by_role("button", name="Different").click()
    expect(line.get_by_text("kept: different")).to_be_visible()
    line.get_by_role("button", name="Count again").click()
    expect(page.get_by_text("4 of 5 rows on the left match")).to_be_visible()
    page.locator(".dt-line", has_text="South Koreaa").get_by_role("button", name="Same").press("Enter")
    expect(page.get_by_text("kept: the same")).to_be_visible()
    picture(page, "pairs")
    page.get_by_role("button", name="Make the join").click()
    expect(page.locator(".ag-cell", has_text="South Koreaa")).to_be_visible()
    expect(page.locator(".ag-cell", has_text="Italyy")).to_have_count(0)
    page.goto(f"{address}/decisions")
    expect(page.get_by_text("'Italyy' = 'Italy'")).to_be_visible()
    for _ in range(2):
        page.get_by_role("button", name="Forget").first.click()
        page.wait_for_timeout(500)
    expect(page.get_by_text("Nothing was decided yet.")).to_be_visible()
    assert not page.faults


def test_a_program_is_changed_in_its_fields(browser, address):
    page = opened(browser, address)
    rows = "".join(f"{first} {last},{n}\n" for n, (first, last) in enumerate(PEOPLE))
    names, logins = sent(page, address, "names.csv", f"name,n\n{rows}"), sent(page, address, "logins.csv", LOGINS)
    page.goto(f"{address}/join?table={names}&with={logins}&by=transform")
    expect(page.get_by_text("Program on the")).to_be_visible()
    page.get_by_text("Change the program").click()
    said = page.get_by_text("In words:")
    expect(said).to_be_visible()
    before = said.inner_text()
    page.get_by_role("button", name="Add text").first.click()
    expect(said).not_to_have_text(before)
    page.get_by_role("button", name="Leave this part out").last.click()
    expect(said).to_have_text(before)
    page.get_by_role("button", name="Join by this program").click()
    expect(page.get_by_text("The transformation was given.")).to_be_visible()
    assert "program=" in page.url and not page.faults


@pytest.mark.parametrize(
    ("path", "seen"),
    [("/union?table=geo/capitals.csv", "What can be appended to geo/capitals.csv?"),
     ("/map?table=geo/capitals.csv&column=country&example=Peru=Lima", "tokyo"),
     ("/predicates?table=geo/capitals.csv&table=geo/countries.csv", "country = Name"),
     ("/graph?edges=inds", "inclusion dependencies"), ("/paths?start=geo/capitals.csv&end=geo/regions.csv", "SELECT"),
     ("/nowhere", "There is nothing at this address.")],
)  # fmt: skip
def test_other_pages(browser, address, path, seen):
    page = opened(browser, address)
    page.goto(address + path)
    expect(page.get_by_text(seen).first).to_be_visible()
    assert not page.faults


@pytest.mark.parametrize(
    ("path", "sentence"),
    [("/search?table=nowhere.csv", "There is no table"), ("/tables/nowhere.csv", "The index has no table"),
     ("/rows?table=upload-000000000000000000000000", "not kept any more"), ("/find?value=qwertzuiop", "No column"),
     ("/sql?table=geo/capitals.csv&query=SELEC 1", "syntax error")],
)  # fmt: skip
def test_nothing_and_failures_are_a_sentence(browser, address, path, sentence):
    page = opened(browser, address)
    page.goto(address + path)
    expect(page.get_by_text(sentence).first).to_be_visible()
    assert "Traceback" not in page.content()


@pytest.mark.parametrize(
    "path",
    ["/", "/search?table=geo/capitals.csv", "/tables/geo/countries.csv", "/graph", "/union?table=geo/capitals.csv",
     "/join?table=geo/capitals.csv&with=geo/countries.csv&by=similar", "/map?table=geo/capitals.csv", "/decisions"],
)  # fmt: skip
def test_phones_and_dark_mode(browser, address, path):
    page = opened(browser, address, color_scheme="dark")
    page.set_viewport_size({"width": 390, "height": 800})
    page.goto(address + path)
    settled(page)
    wide = page.evaluate("document.documentElement.scrollWidth")
    assert wide <= 390, "nothing sticks out"
    assert page.evaluate("document.body.classList.contains('body--dark')")
    if path.startswith("/search"):
        picture(page, "phone")


def test_the_graph_as_one_file(browser, address, tmp_path):
    lake = dovetail.open(_index_of(address))
    (tmp_path / "lake.html").write_text(lake.graph().to_html(), encoding="utf-8")
    page = browser.new_page()
    faults: list[str] = []
    page.on("request", lambda asked: faults.append(asked.url) if not asked.url.startswith("file:") else None)
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.goto((tmp_path / "lake.html").as_uri())
    page.get_by_role("button", name="around countries.csv").first.click()
    page.get_by_role("button", name="geo/regions.csv").first.click()
    expect(page.get_by_text("values occur among its").first).to_be_visible()
    assert not faults


def _index_of(address: str) -> str:
    import httpx

    path: str = httpx.get(f"{address}/info.json", timeout=60).json()["path"]
    return path
