#!/usr/bin/env python3
"""
The oracle of the expression engine: Python's decimal module behind a parser of its own.

    python3 make_cases.py                          writes cases.json beside this file
                                                   and random.json.gz: 6,000 random expressions from one seed
    python3 make_cases.py --random 5000 --seed 7   prints as many random cases as JSON, for compare.ts

Every operation is one operation of decimal.Context. The one exception is `^`: CPython's C module does not round every
power correctly, its pure Python twin _pydecimal does. A case where the two differ carries the C module's result as
`cpython`; `result` is the correctly rounded one.
"""
import argparse
import decimal
import functools
import gzip
import json
import os
import random
import re
import sys

import _pydecimal

HERE = os.path.dirname(os.path.abspath(__file__))
EXACT = decimal.Context(prec=60000, Emax=999999, Emin=-999999, traps=[decimal.InvalidOperation, decimal.Inexact])
ROUNDINGS = ["05up", "ceiling", "down", "floor", "half_down", "half_even", "half_up", "up"]
LIMIT = 10000
FUNCTIONS = {"sqrt": (1, 1), "abs": (1, 1), "min": (1, 9999), "max": (1, 9999), "round": (1, 2)}


class Refused(Exception):
    pass


# --- reading ---------------------------------------------------------------------------------------------------------

TOKEN = re.compile(r"[ \t\r\n]*(?:(\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)(?![\w.])|([A-Za-z_]\w*)|([-+*/%^(),]))", re.A)


def tokens_of(text):
    found, at = [], 0
    end = len(text.rstrip(" \t\r\n"))
    while at < end:
        match = TOKEN.match(text, at)
        if not match:
            raise Refused("invalid_expression")
        found.append(match.group(0).lstrip(" \t\r\n"))
        at = match.end()
    return found


def literal(text):
    try:
        value = decimal.Decimal(text)
    except decimal.InvalidOperation:
        raise Refused("numeric_overflow")
    if not value.is_finite() or abs(value.adjusted()) > LIMIT:
        raise Refused("numeric_overflow")
    return value


class Parser:
    """Precedence climbing into nested tuples."""

    def __init__(self, text):
        self.tokens = tokens_of(text)
        self.at = 0
        self.depth = 0

    def peek(self):
        return self.tokens[self.at] if self.at < len(self.tokens) else None

    def take(self, wanted=None):
        token = self.peek()
        if token is None or (wanted is not None and token != wanted):
            raise Refused("invalid_expression")
        self.at += 1
        return token

    def whole(self):
        tree = self.binary(0)
        if self.peek() is not None:
            raise Refused("invalid_expression")
        return tree

    LEVELS = ["+-", "*/%"]

    def binary(self, level):
        if level == len(self.LEVELS):
            return self.signed()
        left = self.binary(level + 1)
        while self.peek() is not None and self.peek() in self.LEVELS[level]:
            operator = self.take()
            left = (operator, left, self.binary(level + 1))
        return left

    def deeper(self, read):
        self.depth += 1
        if self.depth > 100:
            raise Refused("complexity_limit_exceeded")
        value = read()
        self.depth -= 1
        return value

    def signed(self):
        if self.peek() in ("+", "-"):
            return ("sign" + self.take(), self.deeper(self.signed))
        base = self.atom()
        if self.peek() == "^":
            self.take()
            return ("^", base, self.deeper(self.signed))
        return base

    def atom(self):
        token = self.take()
        if token == "(":
            inner = self.deeper(lambda: self.binary(0))
            self.take(")")
            return inner
        if token[0].isdigit() or token[0] == ".":
            return literal(token)
        if not (token[0].isalpha() or token[0] == "_"):
            raise Refused("invalid_expression")
        if self.peek() != "(":
            return ("name", token)
        if token not in FUNCTIONS:
            raise Refused("unsupported_function")
        self.take("(")
        arguments = []
        if self.peek() != ")":
            arguments.append(self.deeper(lambda: self.binary(0)))
            while self.peek() == ",":
                self.take()
                arguments.append(self.deeper(lambda: self.binary(0)))
        self.take(")")
        least, most = FUNCTIONS[token]
        if not least <= len(arguments) <= most:
            raise Refused("invalid_expression")
        return ("call", token, arguments)


# --- evaluating ------------------------------------------------------------------------------------------------------


def context_of(module, precision, rounding):
    return module.Context(
        prec=precision,
        rounding="ROUND_" + rounding.upper(),
        Emax=LIMIT,
        Emin=-LIMIT,
        traps=[module.InvalidOperation, module.DivisionByZero, module.Overflow, module.Subnormal],
    )


class Evaluation:
    def __init__(self, variables, precision, rounding, power_module):
        self.variables = variables
        self.rounding = "ROUND_" + rounding.upper()
        self.context = context_of(decimal, precision, rounding)
        self.power_module = power_module
        self.power_context = context_of(power_module, precision, rounding)

    def value(self, tree):
        if isinstance(tree, decimal.Decimal):
            return tree
        if tree[0] == "name":
            if tree[1] not in self.variables:
                raise Refused("unknown_variable")
            return self.variables[tree[1]]
        if tree[0] == "call":
            arguments = [self.value(argument) for argument in tree[2]]
        else:
            arguments = [self.value(argument) for argument in tree[1:]]
        try:
            return self.apply(tree[1] if tree[0] == "call" else tree[0], arguments)
        except (decimal.Overflow, decimal.Subnormal, _pydecimal.Overflow, _pydecimal.Subnormal):
            raise Refused("numeric_overflow")

    def apply(self, name, arguments):
        context = self.context
        a = arguments[0]
        b = arguments[1] if len(arguments) > 1 else None
        if name == "+":
            return context.add(a, b)
        if name == "-":
            return context.subtract(a, b)
        if name == "*":
            return context.multiply(a, b)
        if name == "/":
            if not b:
                raise Refused("division_by_zero")
            return context.divide(a, b)
        if name == "%":
            if not b:
                raise Refused("division_by_zero")
            try:
                return context.remainder(a, b)
            except decimal.InvalidOperation:
                raise Refused("precision_limit_exceeded")
        if name == "^":
            return self.power(a, b)
        if name == "sign+":
            return context.plus(a)
        if name == "sign-":
            return context.minus(a)
        if name == "abs":
            return context.abs(a)
        if name == "sqrt":
            try:
                return context.sqrt(a)
            except decimal.InvalidOperation:
                raise Refused("domain_error")
        if name in ("min", "max"):
            best = functools.reduce(EXACT.min if name == "min" else EXACT.max, arguments)
            return context.create_decimal(best)
        return self.round(a, b)

    def round(self, a, places):
        if places is None:
            value = a.to_integral_value(rounding=self.rounding)
            if value and value.adjusted() > LIMIT:
                raise Refused("numeric_overflow")
            return value
        if places != places.to_integral_value() or abs(places) > LIMIT:
            raise Refused("invalid_parameter")
        quantum = decimal.Decimal((0, (1,), -int(places)))
        value = decimal.Context(prec=60000, rounding=self.rounding, Emax=999999, Emin=-999999).quantize(a, quantum)
        if value and value.adjusted() > LIMIT:
            raise Refused("numeric_overflow")
        try:
            return self.context.quantize(a, quantum)
        except decimal.InvalidOperation:
            raise Refused("precision_limit_exceeded")

    def power(self, a, b):
        if abs(b) > LIMIT:
            raise Refused("complexity_limit_exceeded")
        if not a and not b:
            raise Refused("domain_error")
        if not a and b < 0:
            raise Refused("division_by_zero")
        module = self.power_module
        try:
            result = self.power_context.power(module.Decimal(str(a)), module.Decimal(str(b)))
        except module.InvalidOperation:
            raise Refused("domain_error")
        return decimal.Decimal(str(result))


def outcome(case, power_module):
    precision = case.get("precision", 28)
    rounding = case.get("rounding", "half_even")
    try:
        if not isinstance(precision, int) or precision < 1:
            raise Refused("invalid_parameter")
        if precision > 1000:
            raise Refused("precision_limit_exceeded")
        if rounding not in ROUNDINGS:
            raise Refused("invalid_parameter")
        if len(case["expression"]) > 2048:
            raise Refused("complexity_limit_exceeded")
        for name, text in case.get("variables", {}).items():
            if not re.fullmatch(r"[A-Za-z_]\w*", name, re.A) or len(text) > 512:
                raise Refused("invalid_variable")
        variables = {}
        for name, text in case.get("variables", {}).items():
            if not re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", text, re.A):
                raise Refused("invalid_variable")
            variables[name] = literal(text)
        tree = Parser(case["expression"]).whole()
        return {"result": str(Evaluation(variables, precision, rounding, power_module).value(tree))}
    except Refused as refused:
        return {"error": str(refused)}


def settle(case):
    right = outcome(case, _pydecimal)
    cpython = outcome(case, decimal)
    case.update(right)
    if cpython != right:
        case["cpython"] = cpython.get("result", cpython.get("error"))
    return case


# --- cases -----------------------------------------------------------------------------------------------------------


def fixed():
    def case(expression, precision=None, rounding=None, **variables):
        made = {"expression": expression}
        if variables:
            made["variables"] = variables
        if precision is not None:
            made["precision"] = precision
        if rounding is not None:
            made["rounding"] = rounding
        return made

    for expression in """
        0.1+0.2|1.10+2.20|1.20*3|100-0.001|7/2|10/5|1/3|2/3|1/7|100/10|1e3*1e3|1E+3+1|123456789*987654321
        -2^2|(-2)^2|2^3^2|(2^3)^2|2^-1|2^-3^2|--3|-+-3|+1.50|2*-3|2--3|-3%2|7%3|-7%3|7%-3|-7%-3|7.5%2|1%0.3|5.50%1
        1-2-3|8/4/2|2*3%4|2+3*4^2|(2+3)*4|1e-7|0.000001|0.0000001|1e5|.5|5.|00012.500|0e5|0.00|-0|-0.0|0*-1|-1%1|0-0
        sqrt(2)|sqrt(4)|sqrt(4.00)|sqrt(400)|sqrt(4e2)|sqrt(1e1)|sqrt(0.25)|sqrt(0)|sqrt(0.00)|sqrt(-0)|sqrt(2e-9999)
        abs(-5)|abs(5)|abs(-0)|abs(-1.50)|min(3)|max(3)|min(3,1,2)|max(3,1,2)|max(1.0,1.00)|min(1.0,1.00)|max(-1.0,-1.00)
        min(-1.0,-1.00)|max(-0,0)|min(0,-0)|max(0.0,0)|round(2.5)|round(3.5)|round(-2.5)|round(0.4)|round(-0.4)|round(1e3)
        round(2.675,2)|round(1234,-2)|round(1250,-2)|round(1.5,3)|round(99.99,1)|round(0,3)|round(-0.001,2)|round(7,0)
        round(1e-9,2)|round(55,-3)|round(500,-3)|round(1.00)|round(12345678901234567890123456789012345.5)
        2^0.5|4^0.5|8^0.5|16^0.25|16^-0.25|100^1.5|0.25^0.5|0.04^-0.5|2.25^1.5|1024^0.1|9^-0.5|10^0.5|1^0.5|1.00^-0.5
        1e2^0.5|1e4^0.25|1e-4^0.25|1e10^0.1|32^0.2|32^-0.2|243^0.2|1.0^3|1.0^-3|1^9999|1.5000^2|0.00^2|-0^3|(-0)^3|(-0)^2
        2^100|2^1000|3^-5|1.1^100|0.5^100|0.05^-1|0.1^-2|20^-1|8^-30|5^-20|2.5^-3|4.0^-1|7^-1|10^-3|(-2)^-3|(-2)^3|(-3)^-2
        1.0001^9999|0.9999^9999|1.5^0|0^5|0^0.5|2^1e-50|0.5^1e-50|3^1e-9999|1.0000000001^1e-20|2^9999|2^-9999|9.99^9999
        10^9999|10^10000|10^-10000|1e5000^2|1e-5000^2|10^(1/3)|2.718281828459045235360287^-1.5|0.001^0.333|123.456^7.89
        1e9999*10|1e10000*10|1e10000*9|9.99e10000+1e9998|1e-10000/10|1e-10000*0.1|1e-10000*0.99|1e-5000*1e-5000|0e-9000*0e-9000
        0e9000*0e9000|1e10000+1e-10000|1e10000-1e-10000|1e10000%7|7%1e10000|1e28%7|1e27%7|9e27%7|-1e27%7|1e-10000%7e-10000
        1/0|0/0|-1/0|1%0|0%0|5%0.00|0^0|0^-1|0.0^0|(0)^-0.5|sqrt(-1)|sqrt(-1e-9999)|(-2)^0.5|(-1)^1.5|(-8)^(1/3)
        0/5|0.00/5|-0/5|0/-5|0%5|-0%5|0.00*5|0e10+1|0e-40+1|1+0e-40|1.000+0|5-5.00|5.00-5|-5+5|0+-0|-0+-0|-0-0
        round(1,2,3)|round()|sqrt()|sqrt(1,2)|min()|max()|abs()|abs(1,2)|round(1.5,0.5)|round(1.5,10001)|round(1.5,-10001)
        round(123,26)|round(1,27)|round(1,28)|round(12.3,1e1)|round(9.5e9999,-10000)|round(9.5e10000,-10000)
        sin(1)|ln(2)|SQRT(4)|Round(1)|pi|x|sqrt|_a1|max+1|1+|+|*1|(1|1)|()|1 2|2x|2(3)|(2)(3)|1..2|1.2.3|1e|1e+|.|e5|0x10
        1,000|2**3|1//2|5!|1=1|$1|a.b|x_y z|1_000|½|2²|−1|max(1,)|max(,1)|max(1 2)|round(1;2)|"1"|'1'|[1]|{1}|1e10001|1e-10001|0e10001
        1e99999999999999999999|1e-99999999999999999999|1e00000000000000000000001|NaN|Infinity|1^10001|2^10000.5|2^-10001|9^9^9|9^9^9^9
        0^20000|(1+1e-20)^10000|1.0000000000000000000000000000001^2|1.0000000000000000000000000000001^-1|99999999999999999999999999999^2
        12345678901234567890123456789012345678901234567890|-12345678901234567890123456789012345678901234567890
        +12345678901234567890123456789012345678901234567895|abs(-1234567890123456789012345678.95)|max(1234567890123456789012345678.5,1)
    """.replace("\n", "|").split("|"):
        if expression.strip():
            yield case(expression.strip())

    # Every rounding on cases that it decides: ties, both signs, last digits of 0 and 5, carries.
    for rounding in ROUNDINGS:
        for expression in """
            1/3|2/3|-1/3|-2/3|1/7|-1/7|1/6|1/8|-1/8|1.005+0|1.015+0|1.025+0|-1.005+0|-1.015+0|1.0050001+0|1.0000001+0|-1.0000001+0
            9.995+0|9.994+0|9.996+0|-9.995+0|0.9996*1|99.95*10|1.05*1.05|1.15*1.15|-1.15*1.15|1e20+1|1e20-1|-1e20-1|-1e20+1
            1-1|-1+1|0-0|0*-1|+0|-0|--0|abs(-0)|5-5.00|sqrt(2)|sqrt(3)|sqrt(1.5625)|sqrt(1.234321)|sqrt(99.98)
            round(2.5)|round(-2.5)|round(3.5)|round(0.5)|round(-0.5)|round(5.1)|round(0.1)|round(10.1)|round(15.9)|round(-15.9)|round(1.25,1)|round(-1.35,1)
            round(1.001,2)|round(55,-1)|round(54,-1)|round(-0.04,1)|round(0.06,1)|round(5e-30,1)|round(1e-9000,2)
            2^0.5|2^-0.5|3^0.333|4^0.5|100^1.5|16^-0.25|0.3^7|-0.3^7|(-0.3)^7|1.1^20|1.1^-20|7^-1|(-7)^-1|1.001^2|1.004^2|0.999^3|2^-4|2^-10
            2^1e-100|0.5^1e-100|2^-1e-100|1.00000000000000000001^2|0.99999999999999999999^2|1.00000000000000000001^0.5|2^-3|5^-3|1.5^4
            min(1.2345,2)|max(1.2345,1)|max(-1.2345,-2)|abs(-1.2345)|-1.2345|+1.2355|1.0045%1|7%2.0005
        """.replace("\n", "|").split("|"):
            if expression.strip():
                yield case(expression.strip(), 3, rounding)
        for expression in ["1/3", "2/3", "1/9", "10/2.5", "5^0.5", "5^3", "5^-3", "12+3", "95+0", "94+1.5", "15%8", "sqrt(50)", "0.05*1"]:
            yield case(expression, 1, rounding)
        for precision in [2, 9, 50, 333, 1000]:
            for expression in ["1/7", "sqrt(2)", "2^0.5", "1.1^-7", "355/113*(1-1e-40)"]:
                yield case(expression, precision, rounding)

    # Variables.
    yield case("price * quantity * (1 + vat)", price="19.99", quantity="3", vat="0.19")
    yield case("round(price * quantity * (1 + vat), 2)", price="19.99", quantity="3", vat="0.19")
    yield case("principal * (1 + rate / 12) ^ (12 * years)", 20, principal="1000.00", rate="0.05", years="10")
    yield case("sqrt + max", sqrt="1", max="2")
    yield case("a+b", a="+1.50", b="-.5e1")
    yield case("a", a="-0.00")
    yield case("a", a="1e5")
    yield case("a-a", a="7" * 512)
    yield case("a*a", 1000, a="7" * 512)
    yield case("A+a", a="1", A="10")
    yield case("a", a="7" * 513)
    for bad in ["", " ", " 1", "1 ", "1,5", "abc", "NaN", "sNaN", "Infinity", "-inf", "1_0", "1e", "0x1", "--1", "+-1", ".", "1.2.3", "١"]:
        yield case("a", a=bad)
    for bad in ["1e10001", "-1e10001", "1e-10001", "1e999999999999"]:
        yield case("a", a=bad)
    for name in ["1a", "a b", "", "a-b", "é", "a.b"]:
        yield {"expression": "1", "variables": {name: "1"}}
    yield {"expression": "__proto__ + constructor", "variables": {"constructor": "2"}}
    yield case("1+b", a="1")
    yield case("1/0+zz")
    yield case("zz+1/0")

    # Parameters and sizes.
    for precision in [0, -1, 1001, 100000]:
        yield case("1", precision)
    for rounding in ["HALF_EVEN", "nearest", "", "ROUND_UP"]:
        yield case("1", None, rounding)
    yield case("1" + "+1" * 1023)
    yield case("1" + "+1" * 1024)
    yield case("(" * 100 + "1" + ")" * 100)
    yield case("(" * 101 + "1" + ")" * 101)
    yield case("-" * 100 + "1")
    yield case("-" * 101 + "1")
    yield case("2^" * 101 + "1")
    yield case("1^" * 100 + "1")
    yield case("abs(" * 100 + "1" + ")" * 100)
    yield case("abs(" * 101 + "1" + ")" * 101)
    yield case("9" * 2048)
    yield case("1/" + "9" * 2000, 1000)
    yield case("9" * 1000 + "*" + "9" * 1000, 1000)
    yield case("")
    yield case("   ")
    yield case("\t1\n+\r2 ")


def random_number(rng, digits):
    length = rng.choice([1, 1, 2, 3, rng.randint(1, digits)])
    text = str(rng.randint(0, 10**length - 1))
    shape = rng.random()
    if shape < 0.45:
        at = rng.randint(0, len(text))
        text = text[:at] + "." + text[at:]
        if text == ".":
            text = "0"
    elif shape < 0.6:
        text += "e%d" % rng.randint(-12, 12)
    elif shape < 0.65:
        text += "0" * rng.randint(1, 5)
    elif shape < 0.67:
        text += "e%d" % rng.choice([-9999, -6000, -5001, 4999, 6000, 9999])
    return text


def random_exponent(rng):
    kind = rng.random()
    if kind < 0.45:
        return str(rng.randint(-12, 12))
    if kind < 0.65:
        return rng.choice(["0.5", "-0.5", "0.25", "1.5", "-1.5", "0.2", "2.5", "0.125", "-0.75", "2.0"])
    if kind < 0.9:
        return "%d.%d" % (rng.randint(-9, 9), rng.randint(0, 9999))
    if kind < 0.97:
        return str(rng.randint(-400, 400))
    return "1e-%d" % rng.randint(1, 60)


def random_tree(rng, depth, digits, names):
    if depth == 0 or rng.random() < 0.15:
        return rng.choice(names) if names and rng.random() < 0.2 else random_number(rng, digits)

    def deeper():
        return random_tree(rng, depth - 1, digits, names)

    kind = rng.random()
    if kind < 0.56:
        return "(%s %s %s)" % (deeper(), rng.choice("++--**//%"), deeper())
    if kind < 0.70:
        base = rng.choice([deeper, lambda: random_number(rng, 6)])()
        return "(%s)^(%s)" % (base, random_exponent(rng))
    if kind < 0.78:
        return "(%s%s)" % (rng.choice("+-"), deeper())
    if kind < 0.83:
        return "sqrt(abs(%s))" % deeper()
    if kind < 0.86:
        return "sqrt(%s)" % deeper()
    if kind < 0.91:
        return "round(%s, %d)" % (deeper(), rng.randint(-4, 12))
    if kind < 0.94:
        return "round(%s)" % deeper()
    return "%s(%s)" % (rng.choice(["min", "max"]), ", ".join(deeper() for _ in range(rng.randint(1, 4))))


def randoms(count, seed):
    rng = random.Random(seed)
    for _ in range(count):
        precision = rng.choice([rng.randint(1, 9), rng.randint(1, 40), 28, rng.randint(40, 200), rng.randint(200, 1000)])
        digits = max(2, min(precision + 5, 60))
        variables = {name: rng.choice(["", "-"]) + random_number(rng, digits) for name in rng.sample("abc", rng.randint(0, 2))}
        expression = random_tree(rng, rng.randint(1, 3 if precision > 200 else 4), digits, sorted(variables))
        case = {"expression": expression, "precision": precision, "rounding": rng.choice(ROUNDINGS)}
        if variables:
            case["variables"] = variables
        yield case


def main():
    sys.set_int_max_str_digits(0)
    sys.setrecursionlimit(20000)
    options = argparse.ArgumentParser()
    options.add_argument("--random", type=int, default=0)
    options.add_argument("--seed", type=int, default=1)
    chosen = options.parse_args()
    if chosen.random:
        lines = [json.dumps(settle(case), ensure_ascii=False) for case in randoms(chosen.random, chosen.seed)]
        print("[" + ",\n".join(lines) + "]")
        return
    cases = list(fixed()) + list(randoms(300, 1))
    lines = [json.dumps(settle(case), ensure_ascii=False) for case in cases]
    with open(os.path.join(HERE, "cases.json"), "w", encoding="utf-8") as file:
        file.write("[\n" + ",\n".join(lines) + "\n]\n")
    with open(os.path.join(HERE, "random.json.gz"), "wb") as file:
        # Omits the name and the time, so that the same cases give the same file.
        with gzip.GzipFile(filename="", mode="wb", compresslevel=9, fileobj=file, mtime=0) as packed:
            lines_of_random = [json.dumps(settle(case), ensure_ascii=False) for case in randoms(6000, 2026)]
            packed.write(("[" + ",\n".join(lines_of_random) + "]\n").encode("utf-8"))
    print(len(cases), "cases,", sum("cpython" in line for line in lines), "where the C module rounds a power otherwise")


if __name__ == "__main__":
    main()
