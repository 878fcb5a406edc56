/** The page of the orders, by React and TanStack Query: a list in pages, one order, and a form. */
import {
  QueryClient,
  QueryClientProvider,
  skipToken,
  useInfiniteQuery,
  useMutation,
  useQuery,
} from "@tanstack/react-query";
import { StrictMode, useState } from "react";
import { createRoot } from "react-dom/client";
import * as Client from "usher-http/client";
import { infiniteOptions, mayRetry, mutationOptions, queryKey, queryOptions } from "usher-http/tanstack-query";
import type { Routes } from "../routes.ts";

const api = Client.of<Routes>({ baseUrl: "" });
const queryClient = new QueryClient({ defaultOptions: { queries: { retry: mayRetry } } });

function Orders({ show }: { readonly show: (id: number) => void }) {
  const pages = useInfiniteQuery(infiniteOptions(api, "GET /orders", { query: { limit: 2 } }));
  return (
    <section>
      <ul>
        {pages.data?.pages.flatMap(({ items }) =>
          items.map(({ id, item }) => (
            <li key={id}>
              <button onClick={() => show(id)}>{item}</button>
            </li>
          )),
        )}
      </ul>
      {pages.hasNextPage ? <button onClick={() => void pages.fetchNextPage()}>More</button> : null}
    </section>
  );
}

function One({ id }: { readonly id: number | undefined }) {
  const { data, error } = useQuery(
    queryOptions(api, "GET /orders/{order_id}", id === undefined ? skipToken : { path: { order_id: id } }),
  );
  if (error?.refusal.error === "not_found") return <p role="status">None: {error.refusal.message}</p>;
  return <p role="status">{data ? `Order ${data.id}: ${data.item}` : "No order is chosen."}</p>;
}

function Place() {
  const [item, setItem] = useState("");
  const place = useMutation({
    ...mutationOptions(api, "POST /orders"),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: queryKey(api, "GET /orders") }),
  });
  const refusal = place.error?.refusal;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        place.mutate({ json: { item } });
      }}
    >
      <label>
        Item <input value={item} onChange={(event) => setItem(event.currentTarget.value)} />
      </label>
      <button>Place</button>
      {refusal?.error === "sold_out" ? <p role="alert">Sold out. {refusal.message}</p> : null}
      {refusal?.error === "invalid" ? <p role="alert">{refusal.problems.map(({ at }) => at).join(" ")}</p> : null}
    </form>
  );
}

function Page() {
  const [id, setId] = useState<number>();
  return (
    <>
      <Orders show={setId} />
      <One id={id} />
      <button onClick={() => setId(99)}>An order that is not there</button>
      <Place />
    </>
  );
}

const main = document.querySelector("main");
if (main === null) throw new Error("the page has no main");
createRoot(main).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <Page />
    </QueryClientProvider>
  </StrictMode>,
);
