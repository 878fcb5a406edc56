/** Light or dark, as the visitor's system is. */
export const style = `:root {
  color-scheme: light dark;
  --text: light-dark(#1d2433, #e6e9f0);
  --quiet: light-dark(#566074, #a3adc2);
  --back: light-dark(#f3f5f9, #12151c);
  --card: light-dark(#ffffff, #1b1f29);
  --line: light-dark(#d5dbe6, #343b4a);
  --edge: light-dark(#7c869b, #79839a);
  --accent: light-dark(#2453c9, #8fb0ff);
  --on-accent: light-dark(#ffffff, #10182b);
  --good: light-dark(#16703a, #6fd397);
  --bad: light-dark(#b3261e, #ff9d94);
}

* {
  box-sizing: border-box;
}

body {
  margin: 0;
  padding: 1rem;
  background: var(--back);
  color: var(--text);
  font: 1rem/1.5 system-ui, sans-serif;
}

main {
  max-width: 40rem;
  margin: 6vh auto;
  padding: clamp(1.25rem, 5vw, 2rem);
  border: 1px solid var(--line);
  border-radius: 0.75rem;
  background: var(--card);
}

/* One places an order and sees it come; what else there is stands beside it, or below. */
main.wide {
  max-width: 72rem;
  margin: 0 auto;
}

.columns > div > section:first-child {
  margin-top: 1rem;
  padding-top: 1rem;
}

@media (min-width: 60rem) {
  .columns {
    display: grid;
    grid-template-columns: minmax(0, 3fr) minmax(0, 2fr);
    gap: 0 3rem;
    margin-top: 1rem;
    border-top: 1px solid var(--line);
  }

  .columns > div > section:first-child {
    margin-top: 0.5rem;
    border: 0;
  }
}

#place {
  display: grid;
  grid-template-columns: 1fr 6rem auto;
  gap: 0.75rem;
  align-items: end;
}

#place button {
  margin: 0.25rem 0;
  padding: 0.5625rem 1rem;
}

@media (max-width: 30rem) {
  #place {
    grid-template-columns: 1fr 6rem;
  }

  #place button {
    grid-column: 1 / -1;
  }
}

.note {
  margin: 1rem 0 0;
  color: var(--quiet);
  font-size: 0.9rem;
}

h1 {
  margin: 0;
  font-size: 1.6rem;
  line-height: 1.2;
}

h1 + form,
h1 + p {
  margin-top: 0.75rem;
}

h2 {
  margin: 0 0 0.5rem;
  font-size: 1.15rem;
  line-height: 1.2;
}

section {
  margin-top: 1.25rem;
  padding-top: 1.25rem;
  border-top: 1px solid var(--line);
}

p {
  margin: 0 0 1rem;
}

label {
  display: block;
  font-weight: 600;
}

input {
  width: 100%;
  margin: 0.25rem 0;
  padding: 0.5rem;
  border: 1px solid var(--edge);
  border-radius: 0.5rem;
  color: inherit;
  font: inherit;
}

input[type="file"] {
  border-style: dashed;
}

#desk input,
#place input,
#name,
#password {
  margin-bottom: 0.75rem;
  background: var(--back);
}

#place input {
  margin-bottom: 0.25rem;
}

::file-selector-button {
  margin-right: 0.75rem;
  padding: 0.4rem 0.8rem;
  border: 1px solid var(--edge);
  border-radius: 0.35rem;
  background: var(--back);
  color: inherit;
  font: inherit;
  cursor: pointer;
}

#hint,
.state {
  color: var(--quiet);
  font-size: 0.9rem;
}

.state::before {
  content: "";
  display: inline-block;
  width: 0.6em;
  height: 0.6em;
  margin-right: 0.5em;
  border-radius: 50%;
  background: var(--edge);
}

.state.live::before {
  background: var(--good);
}

.state.away::before {
  background: var(--bad);
}

button {
  padding: 0.6rem 1.2rem;
  border: 0;
  border-radius: 0.5rem;
  background: var(--accent);
  color: var(--on-accent);
  font: inherit;
  font-weight: 600;
  cursor: pointer;
}

button.plain {
  padding: 0;
  background: none;
  color: var(--accent);
  font-weight: inherit;
  text-decoration: underline;
}

a {
  color: var(--accent);
}

.source {
  color: var(--quiet);
  font-size: 0.9rem;
  white-space: nowrap;
}

.back {
  display: flex;
  flex-wrap: wrap;
  justify-content: space-between;
  gap: 0.5rem 1.5rem;
  margin: 1.5rem 0 0;
}

form[aria-busy="true"] button {
  opacity: 0.6;
  cursor: progress;
}

:focus-visible {
  outline: 3px solid var(--accent);
  outline-offset: 2px;
}

.outcome {
  margin: 1rem 0 0;
  padding: 0 1rem;
  border-left: 4px solid;
  font-weight: 600;
}

.outcome:empty {
  margin: 0;
  border: 0;
}

.outcome.placed {
  color: var(--good);
}

.outcome.wrong {
  color: var(--bad);
}

table {
  width: 100%;
  margin-top: 1rem;
  border-collapse: collapse;
}

th,
td {
  padding: 0.4rem clamp(0.75rem, 3vw, 1.75rem) 0.4rem 0;
  border-top: 1px solid var(--line);
  text-align: left;
  vertical-align: top;
}

th:last-child,
td:last-child {
  padding-right: 0;
}

thead td,
th {
  border-top: 0;
  color: var(--quiet);
  font-size: 0.9rem;
}

td:first-child,
td.number,
time {
  font-variant-numeric: tabular-nums;
}

td {
  overflow-wrap: anywhere;
}

th.number,
td.number {
  text-align: right;
}

.orders {
  max-height: 24rem;
  overflow-y: auto;
}

.orders table {
  margin-top: 0;
}

.orders:has(tbody tr) .none,
.orders:not(:has(tbody tr)) table {
  display: none;
}

.orders td:not(:nth-child(2)) {
  overflow-wrap: normal;
  white-space: nowrap;
}

/* On a telephone an order is two lines: number, item and quantity; then the time, and the clerk's button. */
@media (max-width: 30rem) {
  .orders table,
  .orders tbody {
    display: block;
  }

  .orders thead {
    position: absolute;
    width: 1px;
    height: 1px;
    overflow: hidden;
    clip-path: inset(50%);
  }

  .orders tbody tr {
    display: grid;
    grid-template-columns: minmax(2rem, auto) 1fr auto;
    gap: 0.1rem 0.75rem;
    padding: 0.6rem 0;
    border-top: 1px solid var(--line);
  }

  .orders tbody td {
    padding: 0;
    border: 0;
  }

  .orders td:nth-child(3)::before {
    content: "× ";
  }

  .orders td:nth-child(4) {
    grid-area: 2 / 2;
    color: var(--quiet);
    font-size: 0.9rem;
  }

  .orders td:nth-child(5) {
    grid-area: 2 / 3;
  }
}

.none {
  margin: 0;
  color: var(--quiet);
}

@media (prefers-reduced-motion: no-preference) {
  tr.new {
    animation: come 2s;
  }
}

@keyframes come {
  from {
    background: light-dark(#dfe8ff, #26345c);
  }
}

details {
  margin-top: 1.5rem;
  color: var(--quiet);
}

summary {
  cursor: pointer;
}

pre {
  margin: 0.5rem 0 0;
  padding: 0.75rem 1rem;
  border-radius: 0.5rem;
  background: var(--back);
  overflow-x: auto;
}
`;
