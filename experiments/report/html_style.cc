#include "experiments/report/html_style.h"

namespace ringside {

const char kHtmlStyle[] = R"css(
:root {
  color-scheme: light dark;
  --page: #fbfbfa; --panel: #ffffff; --ink: #1d2227; --muted: #5c6670; --line: #e2e4e6;
  --pass: #1a7f45; --pass-bg: #e3f4e9; --fail: #b3261e; --fail-bg: #fce8e6; --warn: #8a5a00; --warn-bg: #fff4dc;
  --warn-line: #e9b949; --mark: #98a1aa;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #111417; --panel: #181c20; --ink: #e3e6e9; --muted: #99a3ad; --line: #2c3238;
    --pass: #6fd39a; --pass-bg: #16311f; --fail: #ff9a91; --fail-bg: #431c1a; --warn: #f2c766; --warn-bg: #2e2510;
    --warn-line: #8f6f1f; --mark: #6d7780;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body {
  margin: 0; background: var(--page); color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Liberation Sans", sans-serif;
  font-variant-numeric: tabular-nums; overflow-wrap: break-word;
}
main { max-width: 1200px; margin: 0 auto; padding: 40px 24px 64px; }
header { margin-bottom: 28px; }
.kicker { margin: 0; font-size: 13px; font-weight: 600; letter-spacing: .08em; text-transform: uppercase; color: var(--muted); }
h1 { margin: 4px 0 8px; font-size: 34px; line-height: 1.15; letter-spacing: -.02em; font-weight: 700; text-wrap: balance; }
.facts { margin: 0; max-width: none; color: var(--muted); }
.facts span { display: inline-block; }
.facts span:not(:last-child)::after { content: "·"; margin: 0 .5em; color: var(--mark); }
section { margin-top: 44px; }
h2 { margin: 0 0 6px; font-size: 21px; line-height: 1.25; letter-spacing: -.01em; font-weight: 650; }
h3 { margin: 24px 0 8px; font-size: 16px; font-weight: 650; }
p { margin: 0 0 12px; max-width: 70ch; }
.lead { color: var(--muted); }
code { font: 0.875em/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace; }
small { font-size: 12.5px; color: var(--muted); white-space: nowrap; }

.plain-verdict { max-width: 62ch; margin: 0 0 8px; font-size: 19px; line-height: 1.45; }
.plain-verdict + .verdict { margin-top: 18px; }
.verdict { background: var(--panel); border: 1px solid var(--line); border-radius: 12px; padding: 8px 24px; margin: 0; }
.verdict li { display: grid; grid-template-columns: 7.5em 1fr 220px; gap: 4px 20px; align-items: center;
              padding: 15px 0; border-top: 1px solid var(--line); }
.verdict li:first-child { border-top: 0; }
.verdict li.plain { grid-template-columns: 7.5em 1fr; }
ul.verdict, ul.warnings { list-style: none; }
.verdict.places li { grid-template-columns: minmax(11em, 17em) 1fr 220px; }
.verdict.places li.plain { grid-template-columns: minmax(11em, 17em) 1fr; }
.verdict.many { padding: 6px 20px; }
.verdict.many li { padding: 7px 0; }
.verdict.many .who, .verdict.many .what { font-size: 14.5px; }
.verdict.many .what small { font-size: 12.5px; }
.verdict.failed { border-color: var(--fail); background: var(--fail-bg); }
.verdict.failed li { border-color: var(--fail); }
.verdict .who { color: var(--muted); }
.verdict .what { font-size: 18px; line-height: 1.4; font-weight: 550; }
.verdict .what small { white-space: normal; font-size: 14px; font-weight: 400; }
.track { position: relative; height: 22px; }
.track::before { content: ""; position: absolute; left: 0; right: 0; top: 10px; height: 2px; background: var(--line); border-radius: 1px; }
.track .one { position: absolute; top: 2px; bottom: 2px; width: 2px; margin-left: -1px; background: var(--mark); }
.track .span { position: absolute; top: 7px; height: 8px; border-radius: 4px; opacity: .45; min-width: 3px; }
.track .dot { position: absolute; top: 5px; width: 12px; height: 12px; margin-left: -6px; border-radius: 50%; border: 2px solid var(--panel); }
.scale { margin: 8px 0 0; font-size: 13px; color: var(--muted); max-width: none; text-align: right; }

.words { margin-top: 32px; font-size: 17px; }
.glossary { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 320px), 1fr)); gap: 14px 28px; margin: 10px 0 0; font-size: 14.5px; line-height: 1.45; }
.glossary dt { display: flex; align-items: center; gap: 8px; font-weight: 600; }
.glossary dt i { width: 10px; height: 10px; border-radius: 3px; flex: none; }
.glossary dd { margin: 0; color: var(--muted); }
nav { display: flex; flex-wrap: wrap; gap: 4px 18px; margin-top: 32px; padding: 12px 0; border-top: 1px solid var(--line); border-bottom: 1px solid var(--line); font-size: 14px; }
a { color: inherit; text-decoration-color: var(--mark); text-underline-offset: 3px; }
a:hover { text-decoration-color: currentColor; }

.gates { display: grid; grid-template-columns: repeat(auto-fit, minmax(220px, 1fr)); gap: 12px; margin: 16px 0 0; padding: 0; list-style: none; }
.gates li { background: var(--panel); border: 1px solid var(--line); border-radius: 10px; padding: 14px 16px; font-size: 14px; line-height: 1.45; color: var(--muted); min-width: 0; }
.gates li.failed { border-color: var(--fail); color: var(--ink); grid-column: 1 / -1; order: -1; }
.gates strong { display: flex; justify-content: space-between; align-items: center; margin-bottom: 6px; font-size: 15px; color: var(--ink); text-transform: capitalize; }
.badge { display: inline-block; padding: 1px 9px; border-radius: 999px; font-size: 12px; font-weight: 650; letter-spacing: .02em; white-space: nowrap; }
.badge.pass { color: var(--pass); background: var(--pass-bg); }
.badge.fail { color: var(--fail); background: var(--fail-bg); }

.warnings { margin: 20px 0 0; padding: 14px 20px; background: var(--warn-bg); border: 1px solid var(--warn-line); border-radius: 10px; }
.warnings li { padding: 5px 0; }
.warnings b { color: var(--warn); }

.note { margin: 8px 0 0; max-width: 92ch; font-size: 13px; line-height: 1.5; color: var(--muted); }
.sentences { margin: 16px 0 0; padding-left: 1.2em; max-width: 80ch; }
.sentences li { margin-bottom: 6px; }
.scroll { overflow-x: auto; margin: 16px 0 0; background: var(--panel); border: 1px solid var(--line); border-radius: 10px; }
table { border-collapse: collapse; width: 100%; font-size: 14.5px; }
th, td { padding: 8px 12px; text-align: left; vertical-align: baseline; white-space: nowrap; }
th { white-space: normal; vertical-align: bottom; line-height: 1.3; font-size: 12.5px; font-weight: 600; color: var(--muted); border-bottom: 1px solid var(--line); }
td { border-top: 1px solid var(--line); }
tbody tr:first-child td { border-top: 0; }
.cells { font-size: 13.5px; }
.cells th, .cells td { padding: 7px 8px; }
.cells th:first-child { width: 1%; }
.cells small { font-size: 11.5px; }
.cells th:nth-child(2), .cells td:nth-child(2) { position: sticky; left: 0; z-index: 1; background: var(--panel); }
tr.same td { border-top-color: transparent; }
tr.same td:first-child { color: transparent; }
.n { text-align: right; }
.n small { display: block; }
td code { display: block; width: 32.5ch; white-space: normal; overflow-wrap: anywhere; }
.wrap td code { width: auto; display: inline; }
.series { display: inline-flex; align-items: center; gap: 8px; font-weight: 550; }
.series i { width: 10px; height: 10px; border-radius: 3px; flex: none; }
.wrap td { white-space: normal; overflow-wrap: anywhere; }
.wrap td:first-child { white-space: nowrap; overflow-wrap: normal; color: var(--muted); }
.wrap td code { white-space: normal; }

.figures { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 400px), 1fr)); gap: 20px; margin-top: 16px; align-items: start; }
.figures > * { min-width: 0; }
.figures .scroll { margin: 0; }
.figures .sentences { margin-top: 0; }
.figures th, .figures td { padding: 7px 10px; }
.parts { margin: 0; padding: 18px 20px; background: var(--panel); border: 1px solid var(--line); border-radius: 10px; font-size: 14.5px; line-height: 1.45; }
.parts dt { display: flex; align-items: center; gap: 8px; font-weight: 600; }
.parts dt i { width: 10px; height: 10px; border-radius: 3px; flex: none; }
.parts dd { margin: 0 0 10px 18px; color: var(--muted); }
.parts dd:last-child { margin-bottom: 0; }
figure { margin: 0; padding: 16px 18px 14px; background: var(--panel); border: 1px solid var(--line); border-radius: 10px; min-width: 0; }
figure h3 { margin: 0 0 6px; }
svg.figure { display: block; width: 100%; max-width: 520px; height: auto; margin: 0 auto; font-family: inherit; }
.files { white-space: nowrap; }
.files a { margin-left: 4px; }
figcaption { margin-top: 8px; font-size: 13.5px; line-height: 1.45; color: var(--muted); }

pre { margin: 12px 0 0; padding: 14px 18px; background: var(--panel); border: 1px solid var(--line); border-radius: 10px; overflow-x: auto; white-space: pre-wrap; overflow-wrap: anywhere; }
footer { margin-top: 56px; padding-top: 16px; border-top: 1px solid var(--line); font-size: 13.5px; color: var(--muted); }
footer p { max-width: none; }

@media (max-width: 720px) {
  main { padding: 24px 16px 48px; }
  h1 { font-size: 27px; }
  section { margin-top: 34px; }
  .verdict { padding: 4px 16px; }
  .verdict li, .verdict li.plain { grid-template-columns: 1fr; }
  .verdict .what { font-size: 17px; }
  .gates { grid-template-columns: 1fr; }
  figure { padding: 14px 12px 12px; }
  th, td { padding: 8px 11px; }
  .wrap td:first-child { white-space: normal; }
  .cells th:nth-child(2), .cells td:nth-child(2) { max-width: 8.5em; white-space: normal; }
  .cells .series { display: flex; }
  .plain-verdict { font-size: 17.5px; }
  .verdict.places li, .verdict.places li.plain { grid-template-columns: 1fr; }
}
@page { margin: 13mm; }
@media print {
  :root { color-scheme: light; --page: #fff; --panel: #fff; --ink: #000; --muted: #444; --line: #bbb; }
  body { font-size: 10.5pt; }
  main { max-width: none; padding: 0; }
  section { margin-top: 18pt; }
  h2, .lead { break-after: avoid; }
  figure, tr, .gates li, .verdict li { break-inside: avoid; }
  .scroll { overflow: visible; border-radius: 0; }
  .cells th:nth-child(2), .cells td:nth-child(2) { position: static; }
  nav, .files { display: none; }
  table, .cells { font-size: 7.5pt; }
  table small { font-size: 6.5pt; }
  th, td, .cells th, .cells td { padding: 2.5pt 3pt; white-space: normal; }
  .cells th { font-size: 6.5pt; }
  .cells small { font-size: 6pt; white-space: normal; }
  td code { white-space: normal; overflow-wrap: anywhere; }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
)css";

}  // namespace ringside
