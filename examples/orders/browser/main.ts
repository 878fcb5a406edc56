/** The script of the page at `/`. It imports only types from the server. */
import { takeOrders } from "./desk.ts";
import { importFiles } from "./import.ts";
import { showOrders } from "./live.ts";
import { placeOrders } from "./place.ts";

placeOrders();
importFiles();
takeOrders();
await showOrders();
