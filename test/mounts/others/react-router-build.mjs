/** What `react-router build` writes to `build/server/index.js`, by hand: a root, and a page of an order with a form. */
import { createElement as h } from "react";
import { renderToReadableStream } from "react-dom/server.edge";
import { Form, Outlet, ServerRouter, redirect, useLoaderData } from "react-router";

const root = { default: () => h("html", null, h("body", null, h(Outlet))) };

const orders = new Map([["7", "pen"]]);
const order = {
  loader: ({ params }) => {
    if (!orders.has(params.id)) throw new Response("no such order", { status: 404 });
    return { id: params.id, item: orders.get(params.id) };
  },
  async action({ request, params }) {
    orders.set(params.id, (await request.formData()).get("item"));
    return redirect(`/orders/${params.id}`, { headers: { "set-cookie": "seen=1; Path=/" } });
  },
  default: () => {
    const { id, item } = useLoaderData();
    return h(
      "main",
      null,
      h("h1", null, `Order ${id}: ${item}`),
      h(Form, { method: "post" }, h("input", { name: "item" })),
    );
  },
  ErrorBoundary: () => h("p", null, "Nothing here."),
};

const routes = {
  root: { id: "root", path: "", module: root },
  order: { id: "order", parentId: "root", path: "orders/:id", module: order },
};

const entry = ({ id, parentId, path, module }) => ({
  id,
  parentId,
  path,
  module: `/assets/${id}.js`,
  imports: [],
  hasAction: module.action !== undefined,
  hasLoader: module.loader !== undefined,
  hasErrorBoundary: module.ErrorBoundary !== undefined,
  hasClientAction: false,
  hasClientLoader: false,
  hasClientMiddleware: false,
  hasDefaultExport: true,
});

export const build = {
  entry: {
    module: {
      async default(request, status, headers, context) {
        const page = await renderToReadableStream(h(ServerRouter, { context, url: request.url }), {
          signal: request.signal,
        });
        headers.set("content-type", "text/html");
        return new Response(page, { status, headers });
      },
    },
  },
  routes,
  assets: {
    version: "1",
    url: "/assets/manifest.js",
    entry: { module: "/assets/entry.js", imports: [] },
    routes: Object.fromEntries(Object.values(routes).map((route) => [route.id, entry(route)])),
  },
  basename: "/shop",
  publicPath: "/shop/",
  assetsBuildDirectory: "build/client",
  future: {},
  ssr: true,
  isSpaMode: false,
  prerender: [],
  routeDiscovery: { mode: "initial", manifestPath: "/shop/__manifest" },
};
