"""How the documentation site is built: ``make docs``."""

import sys
from pathlib import Path

import infovec

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "infovec"
author = "The infovec developers"
copyright = "The infovec developers"
version = release = infovec.__version__

extensions = [
    "mathml",
    "papers",
    "parameters",
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "sphinx_gallery.gen_gallery",
]
templates_path = ["_templates"]
default_role = "code"
toc_object_entries_show_parents = "hide"

myst_enable_extensions = ["dollarmath", "amsmath", "deflist"]
myst_heading_anchors = 3
myst_links_external_new_tab = False

autosummary_generate = True
autodoc_default_options = {"members": True}
autodoc_typehints = "none"  # docstrings say it
numpydoc_show_class_members = False

EXAMPLES = Path(__file__).parents[1] / "examples"


sphinx_gallery_conf = {
    "examples_dirs": str(EXAMPLES),
    "gallery_dirs": "auto_examples",
    "filename_pattern": r"\.py$",
    "within_subsection_order": "FileNameSortKey",
    "remove_config_comments": True,
    "download_all_examples": False,
    "show_memory": False,
    "min_reported_time": 1e9,
    "write_computation_times": False,
    "abort_on_example_error": True,
    "default_thumb_file": str(Path(__file__).parent / "images" / "classification.png"),
}

html_theme = "pydata_sphinx_theme"
html_math_renderer = "mathml"
html_static_path = ["_static"]
html_css_files = ["infovec.css"]
html_title = f"infovec {version}"
html_copy_source = False
html_show_sourcelink = False
html_sidebars = {"quick_start": []}
html_theme_options = {
    "navbar_align": "left",
    "header_links_before_dropdown": 7,
    "show_toc_level": 2,
    "footer_start": ["copyright"],
    "footer_end": ["theme-version"],
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
}
