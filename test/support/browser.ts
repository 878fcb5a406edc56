/** Chromium, where this machine has it. */
import { accessSync, constants } from "node:fs";
import { createRequire } from "node:module";
import { delimiter, join } from "node:path";
import type { Browser, BrowserType, CDPSession, Page } from "playwright-core";
import { need } from "./needs.ts";
import type { Need } from "./needs.ts";
import { rows } from "./wide.ts";

declare global {
  // The DOM's names that Playwright's types mention; the tests are compiled without the DOM.
  interface Node {
    readonly nodeType: number;
  }
  interface HTMLElement extends Node {
    readonly title: string;
  }
  interface SVGElement extends Node {
    readonly id: string;
  }
  interface HTMLElementTagNameMap {
    readonly [name: string]: HTMLElement;
  }
}

/** Where Chromium is; undefined where there is none. */
const chromiumPath: string | undefined = process.env["CHROMIUM_PATH"] || onPath();

export const browser: Need = need("Chromium; .ci/run installs it", chromiumPath !== undefined);

// A new page starts a process, and Chromium starts another one for the next page: 0.87 s of processor time a page in place of 0.69.
// The switch replaces Playwright's own of the same name, so that what its list has for tests stands here too.
const unwanted = [
  "SpareRendererForSitePerProcess",
  "AvoidCorsURLLoaderRestartOnRedirect",
  "AvoidUnnecessaryBeforeUnloadCheckSync",
  "DestroyProfileOnBrowserClose",
  "HttpsFirstBalancedModeAutoEnable",
  "HttpsUpgrades",
  "MediaRouter",
  "NetworkTimeServiceQuerying",
  "OptimizationHints",
  "PaintHolding",
  "PreconnectToSearch",
  "ThirdPartyStoragePartitioning",
];

/** A Chromium of one's own, which the caller closes. */
export async function startBrowser(): Promise<Browser> {
  if (chromiumPath === undefined) throw new Error("no Chromium on this machine");
  const args = [
    `--disable-features=${unwanted.join(",")}`,
    // A page with `Cross-Origin-Opener-Policy` would start a second process next to that of the tab before it.
    "--renderer-process-limit=1",
    // A host that is not loopback: plain HTTP to it is not a secure context.
    "--host-resolver-rules=MAP *.example 127.0.0.1",
    // Chromium's sandbox refuses to run as root.
    ...(process.getuid?.() === 0 ? ["--no-sandbox"] : []),
  ];
  // `import` would parse the 3.5 MB once more, for the names of what they export: 0.25 s of processor time.
  const { chromium } = createRequire(import.meta.url)("playwright-core") as { readonly chromium: BrowserType };
  const browser = await chromium.launch({ executablePath: chromiumPath, args, timeout: 0 });
  // Playwright ends a wait after 30 seconds, which a busy machine may need. Here a wait ends with its test.
  browser.on("context", (context) => context.setDefaultTimeout(0));
  return browser;
}

let shared: Promise<Browser> | undefined;

/** The Chromium of this process, for all of its test files. */
export function sharedBrowser(): Promise<Browser> {
  return (shared ??= startShared());
}

async function startShared(): Promise<Browser> {
  const browser = await startBrowser();
  // Vitest ends its processes so, and kills them half a second later. When this one exits, Playwright kills Chromium and removes its files.
  process.once("SIGTERM", () => process.exit());
  return browser;
}

interface Tab {
  readonly page: Page;
  readonly protocol: CDPSession;
}

let tab: Promise<Tab> | undefined;

/** How a tab looks. */
export interface Look {
  readonly width?: number;
  readonly colorScheme?: "light" | "dark";
}

/** A desk in light and a telephone in dark: each width, and each set of colors. The wide run has the other two of the four. */
export const looks: readonly Required<Look>[] = rows<Required<Look>>(
  [
    { colorScheme: "light", width: 1280 },
    { colorScheme: "dark", width: 375 },
  ],
  [
    { colorScheme: "dark", width: 1280 },
    { colorScheme: "light", width: 375 },
  ],
);

/**
 * Lends the tab that the tests of this process share, and removes what a test left in it: a context for each test takes 0.06 s to
 * 0.2 s more. What cannot be removed, as a clock or a script for each page, belongs in a context of one's own.
 */
export async function inTab(
  use: (page: Page) => Promise<void>,
  { width = 1280, colorScheme = "light" }: Look = {},
): Promise<void> {
  tab ??= openTab();
  const { page, protocol } = await tab;
  await page.setViewportSize({ width, height: 900 });
  await page.emulateMedia({ colorScheme });
  try {
    await use(page);
  } finally {
    await clean(page, protocol).catch(async (error: unknown) => {
      tab = undefined;
      await page.context().close();
      throw error;
    });
  }
}

async function openTab(): Promise<Tab> {
  const context = await (await sharedBrowser()).newContext();
  const page = await context.newPage();
  return { page, protocol: await context.newCDPSession(page) };
}

async function clean(page: Page, protocol: CDPSession): Promise<void> {
  const context = page.context();
  await page.goto("about:blank");
  for (const event of ["console", "dialog", "request", "weberror"]) context.removeAllListeners(event);
  page.removeAllListeners();
  for (const other of context.pages()) if (other !== page) await other.close();
  await page.unrouteAll();
  await context.clearCookies();
  await context.clearPermissions();
  await protocol.send("Network.clearBrowserCache");
  await protocol.send("Storage.clearDataForOrigin", { origin: "*", storageTypes: "all" });
}

function onPath(): string | undefined {
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  // Chromium makes a window for each page. The headless shell is the same engine without windows, and takes a quarter of the
  // processor time: 0.55 s a page in place of 2.3, on a busy machine.
  const names = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"];
  return names.flatMap((name) => folders.map((folder) => join(folder, name))).find(canRun);
}

function canRun(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
