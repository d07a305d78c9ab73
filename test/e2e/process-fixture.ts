// A service process of its own for a test file, with a model's server that outlives its kills.

import Anthropic from "@anthropic-ai/sdk";
import { afterAll, beforeAll } from "vitest";
import {
  createFakeModel,
  type FakeModel,
  type FakeModelOptions,
} from "../../dev/fake-model/fake-model.ts";
import { type Served, serveFakeModel } from "../../dev/fake-model/serve.ts";
import { freePort, newState, removeState, type ServiceProcess, startProcess } from "./process.ts";

export interface FileProcess {
  model: FakeModel;
  /** The process that runs now. */
  running(): ServiceProcess;
  kill(): Promise<void>;
  /** Starts it anew, on the same port and state. */
  start(): Promise<void>;
  /** The official SDK with the development token. */
  connect(): Anthropic;
}

/** From before the first test of the file until after its last. */
export function processOfFile(
  variables: Record<string, string> = {},
  options: FakeModelOptions = {},
): FileProcess {
  const state = newState();
  const model = createFakeModel(options);
  let server: Served;
  let port: number;
  let service: ServiceProcess;
  const start = async () => {
    service = await startProcess(state, port, {
      ANTHROPIC_BASE_URL: server.url,
      ANTHROPIC_API_KEY: "demo-model",
      ...variables,
    });
  };
  beforeAll(async () => {
    server = await serveFakeModel(model, { port: 0 });
    port = await freePort();
    await start();
  });
  afterAll(async () => {
    await service.kill();
    await server.close();
    removeState(state);
  });
  return {
    model,
    running: () => service,
    kill: () => service.kill(),
    start,
    connect: () => new Anthropic({ apiKey: service.token(), baseURL: service.url, maxRetries: 0 }),
  };
}
