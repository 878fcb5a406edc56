/** The types that TanStack Query and React have of a typed client's calls, and what the compiler must refuse. */
import { QueryClient, skipToken } from "@tanstack/query-core";
import type { InfiniteData } from "@tanstack/query-core";
import {
  useInfiniteQuery,
  useMutation,
  useQueries,
  useQuery,
  useSuspenseInfiniteQuery,
  useSuspenseQuery,
} from "@tanstack/react-query";
import * as Client from "usher-http/client";
import {
  RefusedError,
  infiniteOptions,
  mayRetry,
  mutationOptions,
  queryKey,
  queryOptions,
  withBase,
} from "usher-http/tanstack-query";
import type { Routes } from "./routes.ts";

type Same<A, B> = [A, B] extends [B, A] ? (0 extends 1 & A ? false : true) : false;
const same = <A, B>(_same: Same<A, B>): void => {};

const api = Client.of<Routes>({ baseUrl: "" });
const client = new QueryClient({ defaultOptions: { queries: { retry: mayRetry } } });
interface Order {
  id: number;
  item: string;
}
interface Page {
  items: Order[];
  next?: string | undefined;
}

export function Queries({ id }: { readonly id: number | undefined }) {
  const one = useQuery(queryOptions(api, "GET /orders/{order_id}", { path: { order_id: 7 } }));
  same<typeof one.data, Order | undefined>(true);
  if (one.error) {
    const { refusal } = one.error;
    one.error satisfies Error;
    switch (refusal.error) {
      case "not_found":
      case "unreachable":
        refusal.message satisfies string;
        break;
      case "invalid":
        refusal.problems[0]?.at satisfies string | undefined;
        break;
      default:
        // @ts-expect-error a code that this route never refuses with
        if (refusal.error === "sold_out") void refusal;
    }
  }
  const when = useQuery({ ...queryOptions(api, "GET /orders"), enabled: id !== undefined, staleTime: 1000 });
  same<typeof when.data, Page | undefined>(true);
  const skipped = useQuery(
    queryOptions(api, "GET /orders/{order_id}", id === undefined ? skipToken : { path: { order_id: id } }),
  );
  same<typeof skipped.data, Order | undefined>(true);
  same<NonNullable<typeof skipped.error>["refusal"]["ok"], false>(true);
  const never = useQuery(queryOptions(api, "GET /orders", skipToken));
  same<typeof never.data, Page | undefined>(true);
  const selected = useQuery({ ...queryOptions(api, "GET /orders"), select: ({ items }) => items.length });
  same<typeof selected.data, number | undefined>(true);
  const given = useQuery({ ...queryOptions(api, "GET /orders"), initialData: { items: [] } });
  same<typeof given.data, Page>(true);
  const suspense = useSuspenseQuery(queryOptions(api, "GET /orders", { query: { limit: 3, after: undefined } }));
  same<typeof suspense.data, Page>(true);
  suspense.error?.refusal.error satisfies string | undefined;
  // @ts-expect-error a query that may be skipped cannot be waited for
  useSuspenseQuery(queryOptions(api, "GET /orders", skipToken));
  const nothing = useQuery(queryOptions(api, "GET /nothing"));
  same<typeof nothing.data, null | undefined>(true);
  const [first, second] = useQueries({
    queries: [queryOptions(api, "GET /orders"), queryOptions(api, "GET /big", { query: { size: 1n } })],
  });
  same<typeof first.data, Page | undefined>(true);
  same<typeof second.data, string | undefined>(true);
  return <p>{one.data?.item}</p>;
}

export function Pages() {
  const pages = useInfiniteQuery(infiniteOptions(api, "GET /orders", { query: { limit: 2 } }));
  same<typeof pages.data, InfiniteData<Page, string> | undefined>(true);
  pages.error?.refusal.error satisfies string | undefined;
  const all = useInfiniteQuery(infiniteOptions(api, "GET /orders"));
  same<typeof all.data, InfiniteData<Page, string> | undefined>(true);
  const suspense = useSuspenseInfiniteQuery(infiniteOptions(api, "GET /orders"));
  same<typeof suspense.data, InfiniteData<Page, string>>(true);
  const next = (last: number[]) => (last.length < 2 ? undefined : (last.at(-1) ?? 0) + 1);
  const rows = useInfiniteQuery(infiniteOptions(api, "GET /rows", { query: { size: 2 } }, { param: "from", next }));
  same<typeof rows.data, InfiniteData<number[], number | null> | undefined>(true);
  const skipped = useInfiniteQuery(infiniteOptions(api, "GET /orders", skipToken));
  same<typeof skipped.data, InfiniteData<Page, string> | undefined>(true);
  infiniteOptions(api, "GET /rows", skipToken, { param: "from", next });
  // @ts-expect-error its pages have no link
  infiniteOptions(api, "GET /rows", { query: { size: 2 } });
  // @ts-expect-error no query parameter of the route
  infiniteOptions(api, "GET /rows", {}, { param: "form", next });
  // @ts-expect-error a value that the parameter does not take
  infiniteOptions(api, "GET /rows", {}, { param: "from", next: () => "x" });
  return <p>{pages.data?.pages.length}</p>;
}

export function Mutations() {
  const place = useMutation({
    ...mutationOptions(api, "POST /orders"),
    onSuccess: (order, { json }) => [order.item, json.item],
    onError: (error) => error.refusal.error === "sold_out",
  });
  same<typeof place.data, Order | undefined>(true);
  place.mutate({ json: { item: "pen" } });
  // @ts-expect-error another type
  place.mutate({ json: { item: 1 } });
  // @ts-expect-error no inputs
  place.mutate();
  const clear = useMutation(mutationOptions(api, "DELETE /orders"));
  clear.mutate();
  clear.mutate({ signal: AbortSignal.timeout(1) });
  same<typeof clear.data, undefined>(true);
  // @ts-expect-error a code that this route never refuses with
  if (clear.error?.refusal.error === "sold_out") clear.reset();
  return <p>{place.error?.message}</p>;
}

export async function direct(): Promise<void> {
  const options = queryOptions(api, "GET /orders/{order_id}", { path: { order_id: 7 } });
  same<Awaited<ReturnType<typeof fetched>>, Order>(true);
  const fetched = async () => client.fetchQuery(options);
  const kept = client.getQueryData(options.queryKey);
  same<typeof kept, Order | undefined>(true);
  client.setQueryData(options.queryKey, (order) => order && { ...order, item: "ink" });
  // @ts-expect-error another type
  client.setQueryData(options.queryKey, { id: "7", item: "ink" });
  const pages = await client.fetchInfiniteQuery(infiniteOptions(api, "GET /orders"));
  same<typeof pages, InfiniteData<Page, string>>(true);
  await client.prefetchQuery(options);
  await client.invalidateQueries({ queryKey: queryKey(api, "GET /orders") });
  await client.invalidateQueries({ queryKey: queryKey(api, "GET /orders", { query: { limit: 2 } }) });
  // @ts-expect-error no such input
  queryKey(api, "GET /orders", { query: { limt: 2 } });
  // @ts-expect-error no such route
  queryKey(api, "GET /order");
  const eu = withBase(api, "eu");
  same<typeof eu, typeof api>(true);
  new RefusedError({ ok: false, status: 409, error: "sold_out", message: "" }).refusal.error satisfies string;
}

export function refused(): void {
  // @ts-expect-error no such route
  queryOptions(api, "GET /nope");
  // @ts-expect-error a query would repeat it
  queryOptions(api, "POST /orders", { json: { item: "pen" } });
  // @ts-expect-error a mutation is no GET
  mutationOptions(api, "GET /orders");
  // @ts-expect-error no inputs, where a path needs one
  queryOptions(api, "GET /orders/{order_id}");
  // @ts-expect-error another type
  queryOptions(api, "GET /orders/{order_id}", { path: { order_id: "7" } });
  // @ts-expect-error a misspelt input
  queryOptions(api, "GET /orders", { query: { limt: 2 } });
  // @ts-expect-error the signal is the query's
  queryOptions(api, "GET /orders", { signal: AbortSignal.timeout(1) });
  // @ts-expect-error a stream is read once
  queryOptions(api, "GET /feed");
  // @ts-expect-error the body of a response is read once
  queryOptions(api, "GET /pdf");
}
