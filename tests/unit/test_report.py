"""The report: one file that needs nothing else, with the figures of the model, on any screen."""

import html
import re
import shutil
import subprocess
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator
from sklearn.datasets import load_digits
from sklearn.metrics import confusion_matrix

from infovec import IVMClassifier, IVMOrdinalClassifier, IVMRegressor
from infovec.errors import ParameterError
from infovec.evaluation import judge, shown
from infovec.kernels import RBF, Bias, FromFunction
from infovec.report.confusion import confusion
from infovec.report.page import card, cards, page, section
from infovec.report.shapes import picture_shape
from infovec.report.write import render

pytest.importorskip("matplotlib")
RNG = np.random.default_rng(0)
X = RNG.normal(size=(160, 3))
F = X[:, 0] + np.sin(2.0 * X[:, 1]) + 0.3 * RNG.normal(size=160)
WORDS = np.array(["poor", "fair", "<good> & 'best'"])
GRADE = WORDS[np.digitize(F, [-0.7, 0.7])]
VOID = {"meta", "img", "br", "path", "use"}


class Reader(HTMLParser):
    """Checks that tags are closed in order, and collects ids, references and text."""

    def __init__(self):
        super().__init__()
        self.open, self.ids, self.wanted, self.addresses, self.words = [], [], [], [], []

    def handle_starttag(self, tag, attrs):
        if tag not in VOID:
            self.open.append(tag)
        self._note(dict(attrs))

    def handle_startendtag(self, tag, attrs):
        self._note(dict(attrs))

    def _note(self, attributes):
        self.ids += [attributes["id"]] if "id" in attributes else []
        for name, value in attributes.items():
            self.wanted += re.findall(r"url\(#([^)]*)\)", value or "")
            if name.endswith(("href", "src")):
                (self.wanted if value.startswith("#") else self.addresses).append(value.removeprefix("#"))

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data.replace("\N{NO-BREAK SPACE}", " "))


def read(path):
    text = path.read_text(encoding="utf-8")
    reader = Reader()
    reader.feed(text)
    reader.close()
    assert reader.open == []
    assert len(set(reader.ids)) == len(reader.ids)
    assert set(reader.wanted) <= set(reader.ids)
    assert all(address.startswith("data:") for address in reader.addresses)  # nothing from elsewhere
    assert "<script" not in text
    return text, " ".join(reader.words)


def fast(cls, **options):
    return cls(kernel=RBF(np.ones(3), 5.0) + Bias(), learn=None, n_active=20, random_state=0, **options)


def test_two_classes(tmp_path):
    y = np.where(F > 0, "yes", "no")
    model = IVMClassifier(n_active=20, random_state=0)
    plan = model.plan(X[:100], y[:100])
    model.fit(X[:100], y[:100])
    model.report(tmp_path / "r.html", X[100:], y[100:], plan=plan, feature_names=["a", "b", "<c>"])
    text, words = read(tmp_path / "r.html")
    found = judge(model, X[100:], y[100:])
    figures = found.figures()
    for name, percent in (("error", True), ("log_loss", False), ("calibration_error", False)):
        assert shown(figures[name], percent) in words
    right = int(found.confusion(2)[0, 0])
    assert right == np.sum((y[100:] == "no") & (model.predict(X[100:]) == "no"))
    assert f">{right}</td>" in text
    told = [f"{seconds:.3g} s" for seconds in (plan.seconds - plan.learning, plan.learning, plan.seconds)]
    rows = [("selection and inference", told[0]), ("learning of parameters", told[1]), ("in all", told[2])]
    for name, planned in rows:
        assert f"{name} {planned}" in words
    assert f"{model.history_['learning_seconds']:.3g} s" in words
    assert model.history_["learning_seconds"] < model.fit_seconds_
    for title in ("Reliability", "Error-reject curve", "Learning curve", "Evidence: learning", "Evidence: inference"):
        assert title in words
    assert "<c>" in words
    assert repr(model.kernel_) in words
    first = int(model.active_[0])
    assert f'<td class="number">{first}</td>' in text
    assert f'<td class="number">{X[first, 0]:.4g}</td>' in text


def test_ordered_classes_and_awkward_names(tmp_path):
    model = fast(IVMOrdinalClassifier, categories=list(WORDS)).fit(X[:100], GRADE[:100])
    model.report(tmp_path / "r.html", X[100:], GRADE[100:].tolist())
    text, words = read(tmp_path / "r.html")
    assert words.count(WORDS[2]) >= 3
    matrix = text.split('class="confusion"')[1].split("</table>")[0]
    assert matrix.count("<tr>") == 4
    heads = [html.unescape(head) for head in re.findall(r'<th title="([^"]*)"', matrix)]
    assert heads == list(WORDS)  # from lowest to highest
    shown_counts = [[int(n) if n.isdigit() else 0 for n in re.findall(r"<td[^>]*>([^<]*)</td>", row)]
                    for row in matrix.split("<tr>")[2:]]  # fmt: skip
    ends = confusion_matrix(GRADE[100:], model.predict(X[100:]), labels=WORDS)
    np.testing.assert_array_equal(shown_counts, ends)
    assert f"3: {', '.join(WORDS)}" in words
    assert "None were given" not in words


def test_numbers(tmp_path):
    model = fast(IVMRegressor).fit(X[:100], F[:100])
    model.report(tmp_path / "r.html", X[100:], F[100:])
    _, words = read(tmp_path / "r.html")
    figures = judge(model, X[100:], F[100:]).figures()
    assert shown(figures["mse"]) in words
    assert shown(figures["log_density"]) in words
    for title in ("Coverage", "Predictions", "Error-reject curve", "Inclusions"):
        assert title in words
    assert "a length scale for each column, and all of them are equal" in words  # there are no relevances to show
    assert "Evidence: learning" not in words


class Many(BaseEstimator):
    """One machine for each class, each with active rows of its own, as a model of many classes may be."""

    approximation, kernel, learn, n_features_in_, stop_reason_ = "projected", None, "ep", 3, "done"

    def __init__(self):
        self.classes_ = WORDS
        self.machines = [fast(IVMClassifier).fit(X[:100], GRADE[:100] == label) for label in WORDS]
        for name in ("active_", "active_vectors_", "kernel_", "history_", "log_evidence_", "converged_"):
            setattr(self, name, [getattr(m, name) for m in self.machines])
        self.n_samples_fit_, self.fit_seconds_, self.likelihood_ = 100, 0.5, self.machines[0].likelihood_

    def fit(self, X, y):
        return self

    def predict_proba(self, Z):
        odds = np.column_stack([m.predict_proba(Z)[:, 1] for m in self.machines])
        return odds / odds.sum(axis=1, keepdims=True)

    def predict_log_proba(self, Z):
        return np.log(self.predict_proba(Z))


def test_many_classes_with_lists_of_everything(tmp_path):
    from infovec.report import write_report

    model = Many()
    write_report(model, tmp_path / "r.html", X[100:], GRADE[100:])
    _, words = read(tmp_path / "r.html")
    assert f"{np.sum(model.log_evidence_):.2f}" in words
    assert f"{len(np.unique(np.concatenate(model.active_)))} (" in words
    assert "Learning curve" not in words  # it has no posterior to look at in parts


def test_without_test_rows_sparse_rows_and_objects(tmp_path):
    from scipy import sparse

    fast(IVMClassifier).fit(sparse.csr_matrix(X), F > 0).report(tmp_path / "r.html")
    assert "None were given" in read(tmp_path / "r.html")[1]
    words = np.array(["a<b", "bb", "ab", "ba"] * 5, dtype=object)
    kernel = FromFunction(lambda A, B: np.array([[1.0 + len(set(a) & set(b)) for b in B] for a in A]))
    IVMClassifier(kernel=kernel, learn=None, n_active=4).fit(words, [0, 1, 0, 1] * 5).report(tmp_path / "r.html")
    assert "a<b" in read(tmp_path / "r.html")[1]


def test_columns_of_a_plane_are_drawn(tmp_path):
    IVMClassifier(kernel=RBF(1.0), learn=None, n_active=9).fit(X[:, :2], F > 0).report(tmp_path / "r.html")
    assert "The function" in read(tmp_path / "r.html")[1]
    IVMRegressor(kernel=RBF(1.0), learn=None, n_active=9).fit(X[:, :1], F).report(tmp_path / "r.html")
    assert "The function" in read(tmp_path / "r.html")[1]


def test_images_are_recognised_and_drawn(tmp_path):
    digits, y = load_digits(return_X_y=True)
    assert picture_shape(digits[:100], "auto") == (8, 8)
    assert picture_shape(digits[:100], None) is None
    assert picture_shape(digits[:100], (4, 16)) == (4, 16)
    assert picture_shape(digits[:100][:, RNG.permutation(64)], "auto") is None
    assert picture_shape(RNG.normal(size=(100, 36)), "auto") is None
    assert picture_shape(np.cumsum(RNG.normal(size=(100, 64)), axis=1), "auto") is None  # a series
    assert picture_shape(np.ones((5, 36)), "auto") is None
    with pytest.raises(ParameterError, match="image_shape"):
        picture_shape(digits, (3, 3))
    model = IVMClassifier(kernel=RBF(30.0, 5.0), learn=None, n_active=12).fit(digits[:200], y[:200] == 3)
    model.report(tmp_path / "r.html")
    text, _ = read(tmp_path / "r.html")
    assert text.count("data:image/png") == 12
    pixels = decoded(text, 0)
    np.testing.assert_array_equal(pixels, np.round(digits[model.active_[0]].reshape(8, 8) * 255 / 16))


def decoded(text, k):
    import base64
    import io

    image = pytest.importorskip("PIL.Image")
    data = re.findall(r"data:image/png;base64,([^\"]+)", text)[k]
    return np.asarray(image.open(io.BytesIO(base64.b64decode(data))))


def test_wrong_requests(tmp_path):
    model = fast(IVMClassifier).fit(X, F > 0)
    with pytest.raises(ParameterError, match="both"):
        model.report(tmp_path / "r.html", X)
    with pytest.raises(ParameterError, match="no folder"):
        model.report(tmp_path / "no" / "r.html")
    with pytest.raises(ParameterError, match="none of the classes"):
        model.report(tmp_path / "r.html", X, np.full(160, "maybe"))
    assert not list(tmp_path.iterdir())


def test_a_report_leaves_pyplot_alone(tmp_path):
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    before, figures = dict(mpl.rcParams), plt.get_fignums()
    fast(IVMClassifier).fit(X, F > 0).report(tmp_path / "r.html")
    assert dict(mpl.rcParams) == before
    assert plt.get_fignums() == figures


PROBE = """<!DOCTYPE html><html><head><title>waiting</title></head><body style="margin:0">
<iframe style="border:0;width:390px;height:20000px" srcdoc="{report}"></iframe>
<iframe style="border:0;width:1200px;height:20000px" srcdoc="{report}"></iframe><script>
const seen = frame => {{
  const page = frame.contentDocument, root = page.documentElement;
  const inside = e => !e.closest(".scroll") && !e.closest("svg") && e.tagName !== "TH";
  const wide = [...page.querySelectorAll("main *")].filter(e => inside(e) && e.scrollWidth > e.clientWidth + 1
    && e.clientWidth > 0 && getComputedStyle(e).display !== "inline");
  return [root.clientWidth, root.scrollWidth, getComputedStyle(page.body).backgroundColor,
    wide.map(e => e.tagName + "." + e.className).join(" ")].join("|");
}};
onerror = message => document.title = "error: " + message;
onload = () => document.title = [...document.querySelectorAll("iframe")].map(seen).join(";");
</script></body></html>"""


def looked_at(text, tmp_path, scheme, probe=PROBE):
    """What a browser makes of a page at 390 and at 1200 pixels: widths, paper, and parts that are cut off."""
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if browser is None:
        pytest.skip("needs Chromium to lay the page out: apt-get install chromium")
    (tmp_path / "probe.html").write_text(probe.format(report=html.escape(text)), encoding="utf-8")
    done = subprocess.run(
        [
            browser, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}",
            f"--blink-settings=preferredColorScheme={scheme}", "--window-size=1300,1000", "--dump-dom",
            (tmp_path / "probe.html").as_uri(),
        ],
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    title = re.search(r"<title>(.*?)</title>", done.stdout)
    assert title is not None, done.stderr[-2000:]
    return title[1].split(";")


LIGHT, DARK = "rgb(250, 250, 250)", "rgb(20, 23, 27)"


@pytest.mark.parametrize(("scheme", "paper"), [(1, LIGHT), (0, DARK)], ids=["light", "dark"])
def test_nothing_is_wider_than_the_screen(tmp_path, scheme, paper):
    """The document, and every part of it that does not scroll by itself."""
    model = fast(IVMOrdinalClassifier, categories=list(WORDS)).fit(X[:100], GRADE[:100])
    model.report(tmp_path / "r.html", X[100:], GRADE[100:], feature_names=["a" * 60, "b", "c " * 40])
    found = looked_at((tmp_path / "r.html").read_text(encoding="utf-8"), tmp_path, scheme)
    assert found == [f"390|390|{paper}|", f"1200|1200|{paper}|"]


@pytest.mark.parametrize("classes", [2, 6])
def test_certificates_need_no_scrolling_on_a_wide_screen(tmp_path, classes):
    labels = np.array([f"class {k}" for k in range(classes)])[
        np.digitize(F, np.quantile(F, np.linspace(0, 1, classes + 1)[1:-1]))
    ]
    model = fast(IVMClassifier).fit(X[:100], labels[:100])
    certified = model.certify(X[100:], labels[100:], held_out=True)
    model.report(tmp_path / "r.html", certificate=certified)
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "Share of each class" in text
    part = page("r", [text[text.index("<section>\n<h2>Certificate") :].split("</section>")[0] + "</section>"])
    everything = PROBE.replace('!e.closest(".scroll") && ', "")
    assert looked_at(part, tmp_path, 1, everything)[1] == f"1200|1200|{LIGHT}|"


def test_axes_of_dates_have_dates(tmp_path):
    day = pd.Timestamp("2021-03-01") + pd.to_timedelta(np.arange(160) * 5, unit="D")
    frame = pd.DataFrame({"since": day, "a": X[:, 0]})
    model = IVMRegressor(n_active=30, random_state=0).fit(frame, X[:, 0] + np.sin(np.arange(160) / 20.0))
    model.report(tmp_path / "r.html")
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    part = text[text.index("Relevances") :]
    shown = part[part.index("mean prediction against since") :].split("</svg>")[0]
    assert len(re.findall(r"<!-- 202[123]-\d\d-\d\d -->", shown)) >= 2
    assert "<!-- 18" not in shown
    assert "<!-- 202" not in part[part.index("mean prediction against a") :].split("</svg>")[0]


@pytest.mark.parametrize("classes", [2, 10, 26])
@pytest.mark.parametrize("names", ["{k}", "<class> number {k} of some"])
def test_confusion_matrices_are_whole_on_any_screen(tmp_path, classes, names):
    counts = np.random.default_rng(classes).integers(0, 1200, size=(classes, classes))
    counts[0, 0] = 98765 if classes < 26 else 9876
    matrix = confusion(counts, [names.format(k=k) for k in range(classes)])
    assert "scroll" not in matrix.split("</table>")[0]
    text = page("m", [section("s", cards(card(matrix, "Confusion matrix"), card("", "beside it")))])
    assert looked_at(text, tmp_path, 1) == [f"390|390|{LIGHT}|", f"1200|1200|{LIGHT}|"]


def test_the_commonest_confusions_are_told_in_words():
    counts = np.diag([9, 9, 9, 9, 9])
    assert "everything is on the diagonal" in confusion(counts, list("abcde"))
    counts[2, 1], counts[0, 3] = 5, 2
    told = confusion(counts, ["ash", "elm", "oak", "fir", "yew"]).split("</table>")[1]
    rows = re.findall(r"<td>(\w+)</td><td>(\w+)</td><td class=\"number\">(\d+)</td>", told)
    assert rows == [("oak", "elm", "5"), ("ash", "fir", "2")]


def test_nothing_is_blank_when_there_are_no_errors(tmp_path):
    y = np.where(X[:, 0] > 0, "yes", "no")
    far = X + 3.0 * np.sign(X[:, :1]) * np.array([1.0, 0.0, 0.0])
    model = fast(IVMClassifier).fit(far[:100], y[:100])
    model.report(tmp_path / "r.html", far[100:], y[100:])
    _, words = read(tmp_path / "r.html")
    assert judge(model, far[100:], y[100:]).right.all()
    assert "None of the 60 rows is predicted wrong" in words
    assert f"below {1 - 0.05 ** (1 / 60):.2%}" in words  # of which 60 rows without error are seen once in twenty times
    assert "Error-reject curve" not in words
    assert "everything is on the diagonal" in words
    assert "No row is predicted wrong" in words


def test_the_most_surprising_rows_come_first(tmp_path):
    y = np.where(F > 0, "yes", "no")
    model = fast(IVMClassifier).fit(X[:100], y[:100])
    model.report(tmp_path / "r.html", X[100:], y[100:], X_train=X[:100], y_train=y[:100])
    text, words = read(tmp_path / "r.html")
    part = text.split("Most surprising")[1].split("</table>")[0]
    rows = [int(row) for row in re.findall(r'<tr><td class="number">(\d+)</td>', part)]
    found = judge(model, X[100:], y[100:])
    assert rows == np.argsort(found.log_own, kind="stable")[:8].tolist()
    assert f"{X[100 + rows[0], 1]:.4g}" in part
    assert "fitted to the training rows" in words
    regressor = fast(IVMRegressor).fit(X[:100], F[:100])
    regressor.report(tmp_path / "r.html", X[100:], F[100:])
    text, words = read(tmp_path / "r.html")
    worst = int(np.argmin(judge(regressor, X[100:], F[100:]).log_density))
    assert f'<td class="number">{worst}</td>' in text.split("Most surprising")[1].split("</table>")[0]
    assert "fitted to the other test rows" in words


def test_missing_cells_of_surprising_rows_are_called_missing(tmp_path):
    pandas = pytest.importorskip("pandas")
    gone = np.arange(len(X)) % 2 == 0
    word = np.where(F > 0, "red", "blue").astype(object)
    for empty in (None, np.nan, pandas.NA):
        frame = pandas.DataFrame({"number": np.where(gone, np.nan, X[:, 0]), "word": np.where(gone, empty, word)})
        model = IVMRegressor(learn=None, n_active=12).fit(frame[:100], F[:100])
        model.report(tmp_path / "r.html", frame[100:], F[100:])
        part = read(tmp_path / "r.html")[0].split("Most surprising")[1].split("</table>")[0]
        assert part.count("missing") >= 2
        assert not re.search(r">(nan|None|&lt;NA&gt;|<NA>)<", part)


@pytest.mark.parametrize("cls", [IVMRegressor, IVMClassifier])
def test_what_is_to_be_said_of_test_rows_is_said_once(cls, tmp_path):
    frame = pd.DataFrame({"number": X[:, 0], "word": np.where(np.arange(len(X)) < 100, "known", "new")})
    y = F if cls is IVMRegressor else F > 0
    model = cls(learn=None, n_active=12).fit(frame[:100], y[:100])
    with pytest.warns(UserWarning, match="60 of 60 cells of column 'word' hold categories") as told:
        model.report(tmp_path / "r.html", frame[100:], y[100:], X_train=frame[:100], y_train=y[:100])
    assert len(told) == 1


def test_relevances_are_told_from_importances(tmp_path):
    model = IVMRegressor(RBF(np.ones(3)) + Bias(), n_active=20).fit(X, F)
    model.report(tmp_path / "r.html")
    assert "not how much predictions depend on it" in read(tmp_path / "r.html")[1]


def test_evidence_is_folded_away_and_columns_are_shown(tmp_path):
    y = np.where(F > 0, "yes", "no")
    fast(IVMClassifier).fit(X[:100], y[:100]).report(tmp_path / "r.html", X[100:], y[100:], feature_names=list("pqr"))
    text, _ = read(tmp_path / "r.html")
    before, inside = text.split("<details>")
    assert "evidence" not in before.split("</style>")[1].lower().replace("class=", "")
    assert "log evidence" in inside
    assert len(re.findall(r'aria-label="mean prediction against [pqr]"', before)) == 3
    with pytest.raises(ParameterError, match="training rows need both"):
        fast(IVMClassifier).fit(X, y).report(tmp_path / "r.html", X, y, X_train=X)


def test_a_model_that_is_no_better_than_a_constant_is_told_so(tmp_path):
    y = np.random.default_rng(5).integers(2, size=160)
    fast(IVMClassifier).fit(X[:100], y[:100]).report(tmp_path / "r.html", X[100:], y[100:])
    said = read(tmp_path / "r.html")[1]
    assert "not clearly better than class frequencies." in said
    assert "logistic regression, which was fitted to the other test rows, fold by fold." in said
    assert said.count("Rows are counted from 0.") == 2  # the surprising ones, and the active ones


@pytest.mark.parametrize("cls", [IVMClassifier, IVMRegressor])
def test_rows_and_targets_of_different_numbers_are_refused(cls, tmp_path):
    y = F > 0 if cls is IVMClassifier else F
    model = fast(cls).fit(X, y)
    with pytest.raises(ParameterError, match="X_test has 160 rows, and y_test 5 targets"):
        model.report(tmp_path / "r.html", X, y[:5])
    with pytest.raises(ParameterError, match="X_train has 7 rows, and y_train 160 targets"):
        model.report(tmp_path / "r.html", X, y, X_train=X[:7], y_train=y)


def test_data_frames_lists_and_surprising_pictures(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame, y = pandas.DataFrame(X, columns=["height", "width", "depth"]), np.where(F > 0, "yes", "no")
    model = fast(IVMClassifier).fit(frame[:100], y[:100])
    model.report(tmp_path / "r.html", frame[100:], y[100:])
    text, words = read(tmp_path / "r.html")
    assert "Most surprising" in words
    assert "mean prediction against width" in text
    digits, label = load_digits(return_X_y=True)
    model = IVMClassifier(kernel=RBF(30.0, 5.0), learn=None, n_active=12).fit(digits[:200], label[:200] == 3)
    model.report(tmp_path / "r.html", digits[200:300], label[200:300] == 3)
    text, words = read(tmp_path / "r.html")
    assert text.count("data:image/png") == 12 + 24
    assert "mean prediction against" not in text  # of single pixels


def test_the_same_model_gives_the_same_report():
    from infovec.report import contents

    model = fast(IVMClassifier).fit(X, F > 0)
    assert render(contents(model)) == render(contents(model))
