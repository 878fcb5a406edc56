/** The script of the page at `/`. Of the server it has the types alone. */
import { takeOrders } from "./desk.ts";
import { importFiles } from "./import.ts";
import { showOrders } from "./live.ts";

importFiles();
takeOrders();
await showOrders();
