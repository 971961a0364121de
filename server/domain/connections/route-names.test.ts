import { expect, test } from "vitest";
import { nameAmong, providerOfRoute } from "./route-names";

const OWN = "openai-compatible";
const bound = (provider: string, label: string) => ({
  id: label,
  credential_id: label,
  project_id: "p",
  environment: "development",
  provider,
  created_at: "",
  label,
});
const nameOf = (label: string, others: ReturnType<typeof bound>[], replaces = false) => {
  const { name, before } = nameAmong(others, { provider: OWN, label }, replaces);
  return [name, before?.label];
};

test("the first server has the provider's name, and a further one adds its label", () => {
  expect(nameOf("Rack", [])).toEqual([OWN, undefined]);
  expect(nameOf("GPU Lab / 2", [bound(OWN, "Rack")])).toEqual([`${OWN}:gpu-lab-2`, undefined]);
});

test("a server with an equal or similarly written label is the same one, and one without a usable label is the first", () => {
  const both = [bound(OWN, "Rack"), bound(`${OWN}:lab`, "Lab")];
  expect(nameOf("Rack", both)).toEqual([OWN, "Rack"]);
  expect(nameOf("LAB", both)).toEqual([`${OWN}:lab`, "Lab"]);
  expect(nameOf("default", both)).toEqual([OWN, "Rack"]);
  expect(nameOf("実験", both)).toEqual([OWN, "Rack"]);
  expect(nameOf("New", both, true)).toEqual([OWN, "Rack"]);
});

test("another vendor has one account in an environment, whatever its label", () => {
  const one = [bound("openai", "a")];
  expect(nameAmong(one, { provider: "openai", label: "b" }, false)).toEqual({
    name: "openai",
    before: one[0],
  });
});

test("only a customer's own server has a name beside its provider's", () => {
  expect(providerOfRoute(`${OWN}:lab`)).toMatchObject({ name: `${OWN}:lab` });
  expect(providerOfRoute(OWN)?.name).toBe(OWN);
  for (const name of ["openai:lab", "unknown", "sandbox:x"]) expect(providerOfRoute(name)).toBeNull();
});
