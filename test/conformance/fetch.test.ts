import { fetchConforms } from "./conformance.ts";
import "../support/logs.ts";

fetchConforms();
