"""What pages with tables and grids of figures add to the stylesheet of every page."""

TABLE_STYLE = """
.scroll { overflow-x: auto; margin: 0 0 1rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
.standings { width: 100%; }
th { font-weight: 500; color: var(--faint); text-align: left; vertical-align: bottom; font-size: .85rem; }
th, td { padding: .4rem 1rem .4rem 0; border-bottom: 1px solid var(--line); white-space: nowrap;
overflow-wrap: normal; }
th { white-space: normal; }
td.number, th.number { text-align: right; }
td.wide { white-space: normal; min-width: 9rem; overflow-wrap: anywhere; }
td.seeds { white-space: normal; }
.caption { color: var(--faint); font-size: .85rem; }
td small { color: var(--faint); display: block; font-size: .75rem; }
tbody tr:first-child td { font-weight: 600; }
tbody tr:first-child td small, tbody tr:first-child td.wide { font-weight: 400; }
.pairs tbody tr:first-child td, .volumes tbody tr:first-child td, .failures tbody tr:first-child td {
font-weight: 400; }
.bar { width: 9rem; max-width: none; height: 1.1rem; display: block; }
.bar line { stroke: var(--faint); stroke-width: 2; }
.pairs td, .pairs th { padding: .2rem .6rem; text-align: center; font-size: .8rem; }
.pairs tbody th { text-align: right; padding-left: 0; color: var(--ink); }
.pairs td.sure { background: #0072b233; font-weight: 600; }
details { margin: 0 0 1rem; }
summary { cursor: pointer; color: var(--faint); margin-bottom: .5rem; }
h3 { font-size: .9rem; font-weight: 500; margin: 0 0 .4rem; color: var(--faint); }
.note { border-left: 3px solid #e69f00; padding-left: .7rem; }
.beside { display: grid; grid-template-columns: minmax(0, 1fr) max-content; gap: 2rem; align-items: start; }
.pair { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(26rem, 100%), 1fr)); gap: 1.5rem;
padding-top: 1rem; }
.panels { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(11rem, 44%), 1fr)); gap: .8rem; }
.panels .card { background: var(--raised); border-radius: 8px; padding: .5rem .6rem; }
.card { min-width: 0; }
[data-panel][hidden] { display: none; }
.scale { color: var(--faint); font-size: .85rem; margin-bottom: .6rem; }
.scale i { display: inline-block; width: 7rem; height: .6rem; border-radius: .3rem; margin: 0 .4rem;
background: linear-gradient(90deg, #414487, #2a788e, #22a884, #7ad151, #bddf26); }
.paper svg { background: #fff; border-radius: 8px; display: block; max-width: none; }
.block { border-top: 1px solid var(--line); padding: 1.5rem 0 0; margin-top: 1.5rem; }
@media (max-width: 56rem) { .beside { grid-template-columns: minmax(0, 1fr); gap: 1rem; } }
@media (max-width: 40rem) { body { padding: 1rem .9rem; } dl { grid-template-columns: minmax(0, 1fr); gap: 0; }
dd { margin-bottom: .45rem; } }
"""
FIGURE_STYLE = """
.figures { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(19rem, 100%), 1fr)); gap: 1.25rem;
margin: 0 0 1.25rem; }
.figures figure { background: var(--raised); border-radius: 8px; padding: .7rem .8rem; min-width: 0; }
.figures figcaption { font-size: .9rem; margin-bottom: .4rem; overflow-wrap: anywhere; }
.figures svg { display: block; margin: 0 auto; }
.figures svg text { fill: var(--ink); }
.figures svg > rect, .figures svg .background { fill: transparent; stroke: none; }
.figures .role-axis-grid line { stroke: var(--line); }
.figures .role-axis-domain line, .figures .role-axis-tick line { stroke: var(--faint); }
tbody tr:first-child td { font-weight: 400; }
tr.aside td { color: var(--faint); font-style: italic; }
"""
