/** The page's style. It is put in force by script, so that the page's policy allows no style element. */
export const style = `
:root {
  color-scheme: light dark;
  --back: light-dark(#fff, #14161b);
  --side: light-dark(#f6f7f9, #191c22);
  --box: light-dark(#f3f4f7, #1f232b);
  --line: light-dark(#d9dce3, #343a46);
  --edge: light-dark(#878d9a, #727b8c);
  --text: light-dark(#1b1f27, #e8eaef);
  --soft: light-dark(#555c6a, #a8b0bf);
  --accent: light-dark(#2f4fc4, #93aaff);
  --on-accent: light-dark(#fff, #10131a);
  --good: light-dark(#146c37, #6fd398);
  --warn: light-dark(#8a4b00, #f0b35e);
  --bad: light-dark(#b3202c, #ff8f92);
  --violet: light-dark(#6d32b5, #c9a2ff);
  --mono: ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace;
}
* { box-sizing: border-box; }
[hidden] { display: none !important; }
html { scroll-padding-top: 4rem; }
body { margin: 0; background: var(--back); color: var(--text); font: 15px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; }
#app { display: grid; grid-template: "head head" auto "side main" 1fr / 300px minmax(0, 1fr); min-height: 100vh; }
h1, h2, h3, h4, p, ul, ol, dl, dd, pre, fieldset, table { margin: 0; padding: 0; }
ul, ol { list-style: none; }
h1 { font-size: 1.05rem; }
h1 small { margin-left: .5rem; color: var(--soft); font-weight: 400; font-size: .85rem; }
h2 { font-size: 1.5rem; line-height: 1.25; overflow-wrap: anywhere; }
h2:focus, main:focus { outline: none; }
h3 { margin: 1.75rem 0 .5rem; font-size: 1.05rem; }
a { color: var(--accent); }
code, pre, .code, .name, .type, .method, .address code { font-family: var(--mono); font-size: .86em; }
code { overflow-wrap: anywhere; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 3px; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
.skip { position: absolute; left: -999rem; }
.skip:focus { left: .5rem; top: .5rem; z-index: 9; padding: .5rem .75rem; background: var(--back); }
header { grid-area: head; position: sticky; top: 0; z-index: 3; display: flex; flex-wrap: wrap; gap: .5rem; align-items: center; padding: .5rem 1rem; background: var(--back); border-bottom: 1px solid var(--line); }
header h1 { flex: 1; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.menu, .jump { display: none; }
.try { scroll-margin-top: 6.5rem; }
.sidebar { grid-area: side; position: sticky; top: 3.3rem; align-self: start; height: calc(100vh - 3.3rem); overflow: auto; padding: .75rem; background: var(--side); border-right: 1px solid var(--line); }
.sidebar [role=search] { position: sticky; top: -.75rem; margin: -.75rem -.75rem 0; padding: .75rem .75rem .4rem; background: var(--side); z-index: 1; }
.sidebar h2 { margin: 1rem .5rem .25rem; color: var(--soft); font-size: .8rem; }
.sidebar a { display: flex; gap: .5rem; align-items: baseline; padding: .3rem .5rem; border-radius: 6px; color: var(--text); text-decoration: none; }
.sidebar a:hover { background: var(--box); }
.sidebar a[aria-current] { background: light-dark(#e2e8ff, #2a3252); }
.sidebar a > span:last-child { min-width: 0; }
.sidebar .title { display: block; line-height: 1.35; overflow-wrap: anywhere; }
.sidebar .path { display: block; color: var(--soft); font: .78rem/1.4 var(--mono); overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.sidebar .cut { display: flex; white-space: nowrap; }
.sidebar .cut > span { flex: none; overflow: hidden; text-overflow: ellipsis; max-width: 100%; }
.sidebar .cut > span:nth-last-child(2) { flex: 0 1 auto; }
.sidebar .old .title { text-decoration: line-through; }
main { grid-area: main; padding: 1.5rem 2rem 4rem; max-width: 1240px; }
.method { flex: none; min-width: 3.9em; font-size: .74rem; font-weight: 700; color: var(--soft); }
.get { color: var(--accent); } .post { color: var(--good); } .put, .patch { color: var(--warn); } .delete { color: var(--bad); } .query, .ws { color: var(--violet); }
.address { display: flex; flex-wrap: wrap; gap: .6rem; align-items: center; margin: .6rem 0 .9rem; padding: .4rem .4rem .4rem .75rem; background: var(--box); border-radius: 8px; }
.address code { flex: 1; min-width: 8rem; font-size: .95rem; }
.address .method { min-width: 0; font-size: .85rem; }
.columns { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 26rem); gap: 2rem; align-items: start; }
.columns > * { min-width: 0; }
.columns > div > h3:first-child { margin-top: .75rem; }
h2 + .prose, h2 + p { margin-top: .5rem; }
.prose > * + * { margin-top: .6rem; }
.prose ul, .prose ol { padding-left: 1.25rem; list-style: disc; }
.prose ol { list-style: decimal; }
.prose, .about, .hint { overflow-wrap: anywhere; }
.strong { font-weight: 600; }
.prose code, .about code, .lines code, .hint code { padding: .05em .3em; background: var(--box); border-radius: 4px; }
.hint, .about { color: var(--soft); font-size: .88rem; }
.members { border-left: 2px solid var(--line); padding-left: .8rem; }
.members > li { padding: .3rem 0; }
.member { display: inline-flex; flex-wrap: wrap; gap: .15rem .45rem; align-items: baseline; max-width: 100%; overflow-wrap: anywhere; }
.name { font-weight: 600; font-size: .9rem; }
.type { color: var(--violet); }
.label { color: var(--soft); font-size: .84rem; }
.rule { padding: 0 .4em; color: var(--soft); background: var(--box); border-radius: 4px; font-size: .8rem; max-width: 100%; overflow-wrap: anywhere; }
.required { color: var(--bad); font-size: .8rem; font-weight: 500; }
.deprecated { padding: 0 .45em; color: var(--warn); border: 1px solid currentcolor; border-radius: 4px; font-size: .78rem; }
.schema > .member { margin-bottom: .25rem; }
.schema .schema { margin-left: .5rem; }
.content + .content { margin-top: .9rem; }
.content > details { margin-top: .5rem; }
.content > .hint { margin-bottom: .3rem; }
details > summary { cursor: pointer; }
.members details > summary { display: flex; align-items: baseline; gap: .4rem; list-style: none; }
.members details > summary::-webkit-details-marker { display: none; }
.members details > summary::before { content: "▸"; color: var(--soft); font-size: .8rem; }
.members details[open] > summary::before { content: "▾"; }
.members details > .members { margin: .2rem 0 .2rem .3rem; }
.plain { padding-left: 1.1rem; list-style: disc; }
.answers { border: 1px solid var(--line); border-radius: 8px; }
.answers > li + li { border-top: 1px solid var(--line); }
.answers > li > details > summary { display: flex; gap: .7rem; align-items: baseline; padding: .45rem .75rem; list-style: none; }
.answers > li > details > summary::-webkit-details-marker { display: none; }
.answers > li > details > :not(summary) { margin: .3rem .75rem .75rem; }
.lines { display: flex; flex-direction: column; min-width: 0; overflow-wrap: anywhere; font-size: .92rem; }
.status { font-family: var(--mono); }
.s1, .s3 { color: var(--accent); } .s2 { color: var(--good); } .s4 { color: var(--warn); } .s5 { color: var(--bad); }
.try { position: sticky; top: 4.2rem; max-height: calc(100vh - 5rem); overflow: auto; padding: 1rem; background: var(--side); border: 1px solid var(--line); border-radius: 10px; }
.try h3 { margin: 0 0 .3rem; }
.try h4 { margin: 1rem 0 .3rem; }
fieldset { min-width: 0; margin-top: .9rem; border: 0; }
legend { padding: 0; font-weight: 600; font-size: .92rem; }
.field { margin-top: .5rem; }
.field label { display: block; font: 500 .86rem/1.5 var(--mono); overflow-wrap: anywhere; }
input, select, textarea, button { font: inherit; color: inherit; }
input, select, textarea { width: 100%; padding: .4rem .55rem; background: var(--back); border: 1px solid var(--edge); border-radius: 6px; }
.field > .label { font: 500 .86rem/1.5 var(--mono); color: inherit; overflow-wrap: anywhere; }
.words { display: flex; flex-wrap: wrap; gap: .15rem .9rem; max-height: 9rem; padding: .3rem; overflow: auto; }
.words label { display: inline-flex; gap: .35rem; align-items: center; font-weight: 400; }
input[type=checkbox] { width: auto; }
input::placeholder { color: var(--soft); opacity: 1; }
input[type=file] { padding: .3rem; }
textarea { display: block; resize: vertical; }
.code { font-family: var(--mono); font-size: .84rem; line-height: 1.5; }
pre { padding: .6rem .7rem; background: var(--box); border-radius: 6px; white-space: pre-wrap; overflow-wrap: anywhere; max-height: 32rem; overflow: auto; }
.try pre { background: var(--back); border: 1px solid var(--line); }
.j-key { color: var(--accent); } .j-text { color: var(--good); } .j-word { color: var(--violet); }
button { padding: .35rem .75rem; background: var(--back); border: 1px solid var(--edge); border-radius: 6px; cursor: pointer; white-space: nowrap; }
button:hover { background: var(--box); }
button:disabled { opacity: .55; cursor: default; }
button.primary { background: var(--accent); border-color: var(--accent); color: var(--on-accent); font-weight: 600; }
.address button, .small button { padding: .15rem .55rem; font-size: .82rem; }
.buttons { display: flex; flex-wrap: wrap; gap: .5rem; margin-top: .7rem; }
.problem { color: var(--bad); }
.problem:not(:empty) { margin-top: .6rem; }
.security { display: flex; flex-wrap: wrap; gap: .4rem .7rem; align-items: center; margin-top: .5rem; font-size: .9rem; overflow-wrap: anywhere; }
.outcome { display: flex; flex-wrap: wrap; gap: .2rem 1rem; color: var(--soft); }
.answer h4:focus { outline: none; }
.answer details { margin: .3rem 0 .5rem; }
.answer img { max-width: 100%; }
table { width: 100%; border-collapse: collapse; font-size: .84rem; }
th, td { padding: .15rem .5rem .15rem 0; text-align: left; vertical-align: top; overflow-wrap: anywhere; }
th { width: 40%; font-weight: 500; font-family: var(--mono); }
.events { display: grid; gap: .5rem; margin-top: .5rem; max-height: 28rem; overflow: auto; }
.events p { display: flex; gap: .6rem; align-items: baseline; font-size: .86rem; }
dl { margin-top: 1rem; display: grid; gap: .35rem; }
dl > div { display: grid; grid-template-columns: 8.5rem minmax(0, 1fr); gap: 1rem; overflow-wrap: anywhere; }
dt { color: var(--soft); }
.operations a { display: grid; grid-template-columns: 4.2rem minmax(8rem, 18rem) minmax(0, 1fr); gap: .75rem; align-items: baseline; padding: .35rem .5rem; border-radius: 6px; color: inherit; text-decoration: none; }
.operations a:hover { background: var(--box); }
dialog { width: min(34rem, calc(100vw - 2rem)); max-height: calc(100vh - 2rem); padding: 1.25rem; color: inherit; background: var(--back); border: 1px solid var(--line); border-radius: 12px; overflow: auto; }
dialog::backdrop { background: rgb(0 0 0 / .5); }
dialog fieldset { padding: .7rem .8rem; border: 1px solid var(--line); border-radius: 8px; }
dialog legend { padding: 0 .4rem; }
dialog fieldset + .about { margin-top: .8rem; }
@media (max-width: 1150px) { .columns { grid-template-columns: minmax(0, 1fr); } .try { position: static; max-height: none; } .answer:not(:empty) { min-height: 70vh; } .jump { display: inline-block; } }
@media (max-width: 800px) {
  #app { grid-template-columns: minmax(0, 1fr); grid-template-areas: "head" "main"; grid-template-rows: auto 1fr; }
  header { padding: .5rem .75rem; }
  header h1 { order: -1; flex-basis: 100%; }
  .menu { display: inline-block; margin-right: auto; }
  .sidebar { display: none; position: fixed; inset: 5.6rem 0 0; align-self: stretch; height: auto; z-index: 2; border: 0; }
  .listed .sidebar { display: block; }
  main { padding: 1rem .9rem 3rem; }
  .operations a { grid-template-columns: 3.6rem minmax(0, 1fr); }
  .operations a span:last-child { grid-column: 2; color: var(--soft); font-size: .9rem; margin-top: -.35rem; }
  dl > div { grid-template-columns: minmax(0, 1fr); gap: 0; }
}
`;
