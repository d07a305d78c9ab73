import { parseArgs } from "node:util";
import { createFakeModel } from "./fake-model.ts";
import { serveFakeModel } from "./serve.ts";

const { values } = parseArgs({ options: { port: { type: "string", default: "0" } } });
const port = Number(values.port);
if (!Number.isInteger(port) || port < 0 || port > 65_535) {
  throw new Error(`Cannot listen on port ${values.port}: expected a number from 0 to 65535`);
}
const { url } = await serveFakeModel(createFakeModel(), { port });
console.log(`Demo model (fixed rules, no real model) at ${url}`);
