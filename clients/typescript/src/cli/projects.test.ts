import { expect, test } from "vitest";
import type { Schemas } from "../core";
import { chooseProject } from "./projects";
import type { Terminal } from "./terminal";

type Project = Schemas["Project"];

test("a person at a terminal chooses the project by number, and a single project is used without a question", async () => {
  const project = (id: string) => ({ id, displayName: `Project ${id}` }) as Project;
  const notes: string[] = [];
  const given = ["0", "three", "2"];
  const terminal: Terminal = {
    isJson: false,
    answer: () => {},
    line: () => {},
    note: (text) => notes.push(text),
    ask: async () => given.shift() ?? "",
  };
  const projects: [Project, string][] = [
    [project("cpr_a"), "North"],
    [project("cpr_b"), "South"],
  ];
  expect((await chooseProject(terminal, projects, undefined)).id).toBe("cpr_b");
  expect(notes[0]).toMatch(/1 {2}cpr_a {2}Project cpr_a {2}North\n {2}2 {2}cpr_b/);
  expect(notes.slice(1)).toEqual(["0 is not one of the numbers.", "three is not one of the numbers."]);
  expect((await chooseProject(terminal, projects.slice(0, 1), undefined)).id).toBe("cpr_a");
  expect((await chooseProject(terminal, projects, "cpr_a")).id).toBe("cpr_a");
  expect(given).toEqual([]);
});
