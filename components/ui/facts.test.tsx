import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { Fact, Facts } from "./facts";

test("a fact without a value is not shown; zero is a value", () => {
  const html = renderToStaticMarkup(
    <Facts>
      <Fact name="Tax">{false}</Fact>
      <Fact name="Note">{null}</Fact>
      <Fact name="Capability">{undefined}</Fact>
      <Fact name="Jobs">{0}</Fact>
    </Facts>,
  );
  expect(html.match(/<dt[^>]*>[^<]*/g)?.map((each) => each.replace(/<[^>]*>/, ""))).toEqual(["Jobs"]);
});
