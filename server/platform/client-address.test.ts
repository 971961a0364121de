import { expect, test } from "vitest";
import { networkOf } from "./network-of";

test.each([
  ["203.0.113.9", "203.0.113.9"],
  ["::ffff:203.0.113.9", "::ffff:203.0.113.9"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2"],
  ["2001:db8:1:2::9", "2001:db8:1:2"],
  ["2001:db8::1:2:3:4", "2001:db8:0:0"],
  ["2001:db8::abcd", "2001:db8:0:0"],
  ["::1", "0:0:0:0"],
  ["", ""],
])("the address %j is limited as the network %j", (address, network) => {
  expect(networkOf(address)).toBe(network);
});
