import { Meta, Path, Returns, addHeader, get, html } from "usher-http";
import type { Html } from "usher-http";
import { Conditional } from "usher-http/conditional";
import { sessions } from "./clerks.ts";
import { tagOf } from "./tags.ts";

const page = (clerk: string | undefined): Html =>
  html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>Orders – an example of Usher</title>
        <link rel="stylesheet" href="/assets/page.css" />
        <script type="module" src="/assets/page.js"></script>
      </head>
      <body data-clerk=${clerk}>
        <main class="wide">
          <h1>Orders</h1>
          <p>
            A small shop, made with Usher. All of it uses one API: try it in <a href="/docs">the API documentation</a>,
            which is made from <a href="/source/routes.ts">the routes</a>.
          </p>
          ${clerk === undefined ? signedOut : signedIn(clerk)}
          <div class="columns">
            <div>
              <section aria-labelledby="place-title" hidden>
                <h2 id="place-title">Place an order</h2>
                <form id="place">
                  <div>
                    <label for="item">Item</label>
                    <input id="item" name="item" value="pen" required maxlength="100" autocomplete="off" />
                  </div>
                  <div>
                    <label for="quantity">Quantity</label>
                    <input id="quantity" name="quantity" type="number" value="2" min="1" step="1" required />
                  </div>
                  <button>Place it</button>
                </form>
                <p id="placed" class="outcome" role="status"></p>
              </section>
              <section id="live" aria-labelledby="live-title" hidden>
                <h2 id="live-title">The newest orders</h2>
                <p class="state" role="status">Connecting …</p>
                <div class="orders" tabindex="0" role="group" aria-label="Orders, newest first">
                  <p class="none">There are no orders yet. Place the first one.</p>
                  <table>
                    <thead>
                      <tr>
                        <th scope="col">No.</th>
                        <th scope="col">Item</th>
                        <th scope="col" class="number">Quantity</th>
                        <th scope="col">Placed</th>
                      </tr>
                    </thead>
                    <tbody></tbody>
                  </table>
                </div>
                <p class="note">
                  An order that is placed anywhere appears here at once, over an event stream (Server-Sent Events).
                  ${source("feed.ts")}
                </p>
              </section>
            </div>
            <div>
              <section aria-labelledby="desk-title" hidden>
                <h2 id="desk-title">Order at the desk</h2>
                <p>
                  The desk is a WebSocket: it sends each item that you type as a message, and the server answers with an
                  order of one piece. Try <em>pen</em>, and <em>unicorn</em>, which is sold out. ${source("desk.ts")}
                </p>
                <form id="desk">
                  <label for="desk-item">Item for the desk</label>
                  <input id="desk-item" name="item" required maxlength="100" autocomplete="off" />
                  <button>Place one</button>
                </form>
                <p id="made" class="outcome" role="status"></p>
              </section>
              <section aria-labelledby="import-title">
                <h2 id="import-title">Import</h2>
                <p>
                  Choose a CSV file with an order on each line. Either all of them are placed, or none, and you see
                  every mistake in the file. ${source("import.ts")}
                </p>
                <form id="import" action="/orders/import" method="post" enctype="multipart/form-data">
                  <label for="orders">CSV file</label>
                  <input
                    id="orders"
                    name="orders"
                    type="file"
                    accept=".csv,text/csv"
                    required
                    aria-describedby="hint"
                  />
                  <p id="hint">At most 100,000 orders in 10 MiB, with the header <code>item,quantity</code>.</p>
                  <button>Place the orders</button>
                </form>
                <p id="outcome" class="outcome" role="status"></p>
                <table id="problems" aria-labelledby="outcome" hidden>
                  <thead>
                    <tr>
                      <th scope="col">Line</th>
                      <th scope="col">Column</th>
                      <th scope="col">What is wrong</th>
                    </tr>
                  </thead>
                  <tbody></tbody>
                </table>
                <details>
                  <summary>What such a file looks like</summary>
                  <pre><code>item,quantity
pen,2
"ruler, 30 cm",1</code></pre>
                </details>
              </section>
            </div>
          </div>
        </main>
      </body>
    </html> `;

const source = (file: string): Html => html`<a class="source" href="/source/${file}">Source: ${file}</a>`;

const signedOut = html`<p><a href="/sign-in">Sign in</a> as a clerk to remove orders.</p>`;

const signedIn = (clerk: string): Html =>
  html`<form action="/sign-out" method="post">
    <p>Signed in as ${clerk}. <button class="plain">Sign out</button></p>
  </form>`;

/** Only resources of this origin, nothing inline. */
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; form-action 'self'; " +
  "base-uri 'none'; frame-ancestors 'none'";

/** The API document leaves these out. */
const meta = Meta.empty.add(Meta.hidden, true);

/** A page that places an order, shows the newest ones, and imports a file. The import works without JavaScript. */
export const pageRoutes = [
  get(
    Path.root,
    {
      meta,
      inputs: { addHeader, session: sessions.optional, validators: Conditional.validators },
      returns: Returns.html,
    },
    async ({ addHeader, session, validators }) => {
      addHeader("content-security-policy", policy);
      // The page is personal: no shared cache keeps it, and the browser asks each time whether it has changed.
      addHeader("cache-control", "private, no-cache");
      const text = String(page(session?.data.clerk));
      validators({ etag: await tagOf(text) });
      return text;
    },
  ),
  // Browsers always request it.
  get(Path.of("favicon.ico"), { meta, returns: Returns.empty() }, () => {}),
];
