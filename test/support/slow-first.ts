/** The order of test files: the slowest begin first, so that none of them runs at the end while the other workers have nothing to do. */
import { relative } from "node:path";
import { BaseSequencer } from "vitest/node";
import type { TestSpecification } from "vitest/node";

// In the order of their time. Vitest's cache of times would tell, but a fresh clone has none.
const slow = [
  // They wait, and leave the processors to other files.
  "adapters/node/departures",
  "adapters/node/socket-ends",
  "adapters/postgres/migrate",
  "adapters/postgres/untold",
  "adapters/postgres/idempotency-isolation",
  "adapters/deno/listener",
  "docs/site",
  "adapters/bun/listener",
  "growth/growth",
  "package/installed",
  "adapters/node/other-runtimes",
  "adapters/node/out-of-turn",
  "security/idempotency-chaos",
  "create/matrix",
  "examples/tutorial",
  "conformance/node-oldest",
  "openapi/reader-attacks",
  "conformance/node-on-deno",
  "adapters/node/faults",
  "conformance/http2",
  "cli/runtimes",
  "conformance/node-newest",
  "conformance/node-on-bun",
  "client/orders",
  "create/dev",
  "telemetry/runtimes",
  "adapters/bun/bun",
  "conformance/bun",
  "app/counts",
  "adapters/vanished",
  "examples/clerks",
  "package/orders-example",
  "cli/dev",
  "conformance/deno",
  "openapi/reader",
  "package/realworld",
  "adapters/postgres/chaos",
  "adapters/postgres/relay",
  "package/declarations",
  "openapi/tools",
  "logging/concurrent",
  "adapters/node/event-faults",
  "telemetry/otlp",
  "adapters/node/upgrade-faults",
  "examples/look",
  "examples/page",
  "openapi/tables",
  "models/bodies",
  "security/session-model",
  "html/attacks",
  "adapters/postgres/session-table",
  "adapters/postgres/types",
  "conformance/whatwg",
  "conformance/workerd",
  "adapters/cores/cores",
  "logging/stderr",
];

export class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ project, moduleId }: TestSpecification): number => {
      const place = slow.indexOf(relative(`${this.ctx.config.root}/test`, moduleId).replace(".test.ts", ""));
      // Files that share a process come together, as it ends before one that has its own: those that count, and then the others.
      const together = project.config.isolate ? 0 : project.name === "counted" ? 1 : 2;
      return together * (slow.length + 1) + (place === -1 ? slow.length : place);
    };
    return files.toSorted((a, b) => rank(a) - rank(b));
  }
}
