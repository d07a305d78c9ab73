import { expect, it } from "vitest";
import { createTurnOrder } from "./turn-order.ts";

function start() {
  const released: string[] = [];
  return { released, order: createTurnOrder((id) => released.push(id)) };
}

it("lets the first message through and keeps those that come before its turn began", () => {
  const { order, released } = start();
  expect(order.message("a")).toBe(false);
  expect(order.message("b")).toBe(true);
  order.running();
  expect(order.message("c")).toBe(true);
  expect(released).toEqual([]);
});

it("releases one waiting message for each turn", () => {
  const { order, released } = start();
  order.message("a");
  order.running();
  order.message("b");
  order.message("c");
  order.idle("end_turn");
  expect(released).toEqual([]);
  order.running();
  expect(released).toEqual(["b"]);
  order.idle("end_turn");
  order.running();
  expect(released).toEqual(["b", "c"]);
});

it("releases nothing when a blocked or rescheduled turn goes on", () => {
  const { order, released } = start();
  order.message("a");
  order.running();
  order.message("b");
  order.idle("requires_action");
  order.running();
  order.running();
  expect(released).toEqual([]);
});

it("releases all that joined a turn once the session stays idle", () => {
  const { order, released } = start();
  order.message("a");
  order.running();
  order.message("b");
  order.settle();
  expect(released).toEqual([]);
  order.idle("end_turn");
  order.settle();
  expect(released).toEqual(["b"]);
  expect(order.message("c")).toBe(false);
});
