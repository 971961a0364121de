import { describe, expect, test } from "vitest";
import { isPublicAddress, PRIVATE_ADDRESS, publicOnly, refusalOfAddress } from "./addresses";

describe("public addresses", () => {
  test.each([
    "1.1.1.1",
    "8.8.8.8",
    "100.63.255.255",
    "172.32.0.1",
    "192.169.0.1",
    "2606:4700::1111",
    "2a00:1450::1",
  ])("%s is public", (address) => expect(isPublicAddress(address)).toBe(true));

  test.each([
    "0.0.0.0",
    "10.0.0.1",
    "100.64.0.1",
    "127.0.0.1",
    "127.255.255.254",
    "169.254.169.254",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.8",
    "192.0.2.1",
    "192.168.1.1",
    "198.18.0.1",
    "198.51.100.7",
    "203.0.113.7",
    "224.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::127.0.0.1",
    "::ffff:7f00:1",
    "::ffff:8.8.8.8",
    "64:ff9b::7f00:1",
    "64:ff9b:1::1",
    "100::1",
    "2001::1",
    "2001:db8::1",
    "2002:7f00:1::",
    "3fff::1",
    "fc00::1",
    "fd12:3456::1",
    "fe80::1",
    "fe80::1%eth0",
    "ff02::1",
    "localhost",
    "",
  ])("%s is not public", (address) => expect(isPublicAddress(address)).toBe(false));
});

test("an http URL without permission, another scheme, or credentials in the URL are refused", () => {
  const refused = (text: string, allowHttp = false) =>
    refusalOfAddress(new URL(text), { allowHttp, allowPrivateAddresses: false });
  expect(refused("http://hooks.example/")).toContain("https");
  expect(refused("http://hooks.example/", true)).toBeNull();
  expect(refused("https://hooks.example:8443/in?x=1")).toBeNull();
  for (const text of ["ftp://hooks.example/", "file:///etc/passwd", "data:,x", "javascript:alert(1)"])
    expect(refused(text, true)).toContain("https");
  expect(refused("https://me@hooks.example/")).toContain("user name");
  expect(refused("https://8.8.8.8/")).toBeNull();
  expect(refused("https://[2606:4700::1111]/")).toBeNull();
});

test("a name is refused if any of its addresses is private, whichever comes first", async () => {
  const answer = (addresses: string[]) =>
    new Promise<string | undefined>((done) => {
      const all = addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
      const lookup = publicOnly((_name, _options, callback) => callback(null, all));
      lookup("hooks.example", { all: true }, (error) => done(error?.code));
    });
  expect(await answer(["8.8.8.8", "2606:4700::1111"])).toBeUndefined();
  for (const hidden of ["10.0.0.1", "127.0.0.1", "169.254.169.254", "::1"])
    for (const addresses of [["8.8.8.8", hidden], [hidden, "8.8.8.8"], [hidden]])
      expect(await answer(addresses), addresses.join()).toBe(PRIVATE_ADDRESS);
});
