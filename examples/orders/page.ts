import { Answer, Path, Returns, get } from "usher-http";
import { script } from "./page-script.ts";
import { style } from "./page-style.ts";

const page = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Import orders</title>
    <link rel="stylesheet" href="/page.css">
    <script type="module" src="/page.js"></script>
  </head>
  <body>
    <main>
      <h1>Import orders</h1>
      <p>Choose a CSV file with an order on each line. Either all of them are placed, or none.</p>
      <form action="/orders/import" method="post" enctype="multipart/form-data">
        <label for="orders">CSV file</label>
        <input id="orders" name="orders" type="file" accept=".csv,text/csv" required aria-describedby="hint">
        <p id="hint">At most 10 MiB, with the header <code>item,quantity</code>.</p>
        <button>Place the orders</button>
      </form>
      <p id="outcome" role="status"></p>
      <table id="problems" aria-labelledby="outcome" hidden>
        <thead>
          <tr><th scope="col">Line</th><th scope="col">Column</th><th scope="col">What is wrong</th></tr>
        </thead>
        <tbody></tbody>
      </table>
      <details>
        <summary>What such a file looks like</summary>
        <pre><code>item,quantity
pen,2
"ruler, 30 cm",1</code></pre>
      </details>
    </main>
  </body>
</html>
`;

/** A page to import orders with. It needs no script; with one, the answer is shown in the page. */
export const pageRoutes = [
  get(Path.root, { summary: "The page", returns: Returns.html }, () => page),
  get(Path.of("page.css"), { summary: "The page's style", returns: Returns.response }, () =>
    Answer.make(style, { contentType: "text/css; charset=utf-8" }),
  ),
  get(Path.of("page.js"), { summary: "The page's script", returns: Returns.response }, () =>
    Answer.make(script, { contentType: "text/javascript; charset=utf-8" }),
  ),
  // Browsers ask for it unasked.
  get(Path.of("favicon.ico"), { summary: "No icon", returns: Returns.empty() }, () => {}),
];
