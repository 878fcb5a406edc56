/** What `usher client` writes, as far as the page needs it. */
import type { Client } from "usher-http";
import type { placeOrder } from "../../../given.ts";

export declare function client(options: { readonly baseUrl: string }): Client<readonly [typeof placeOrder]>;
