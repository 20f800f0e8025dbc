"""The glossary is in order, has the words that pages use, and every entry leads to a page."""

from __future__ import annotations

import re

from support.documentation import page_text

ENTRIES = re.findall(r"^- \*\*(.+?)\*\*: (.*?)(?=^- |\Z)", page_text("glossary"), flags=re.DOTALL | re.MULTILINE)


def test_glossary_is_in_alphabetical_order_and_each_term_stands_once() -> None:
    terms = [term.casefold() for term, _ in ENTRIES]
    assert terms == sorted(set(terms))


def test_entry_is_one_or_two_sentences_with_a_link_to_its_page() -> None:
    for term, meaning in ENTRIES:
        text = " ".join(meaning.split())
        assert re.search(r"\(\[[^\]]+\]\([^)]+\.md(#[^)]+)?\)\)\.$", text), term
        assert 1 <= len(re.findall(r"[.?!](?= [A-Z]|$)", text)) <= 2, term


def test_glossary_has_the_terms_of_the_field() -> None:
    expected = {"architecture", "cell", "space", "fidelity", "surrogate", "incumbent", "regret", "simulated wall clock"}
    expected |= {
        "sparse Kendall tau",
        "rank-biased overlap",
        "zero-cost proxy",
        "one-shot",
        "weight sharing",
        "supernet",
    }
    expected |= {"population training", "ceiling R²", "canonical form", "function of a cell", "warm start", "held-out"}
    assert expected <= {term for term, _ in ENTRIES}
