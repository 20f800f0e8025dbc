"""The page of proxies judged on tables."""

from nasbed.core.former_names import former

__getattr__ = former(
    __name__, {"write_proxies_report": "nasbed.reports.proxies.page:write_proxies_report"}, until="0.3"
)
