//! Corner cases of the grammar, by hand.

/// Expressions, one in each line.
pub(super) const READ: &str = r#"a + b * c - d / e % f
a - b - c
a / b / c
a * (b + c)
((a))
a < b == c
a == b != c <= d
a in b in c
1 + 2 in [3]
1in[1]
a || b && c || d
a && b || c && d
a || b || c || d || e || f || g
a && b && c && d && e
(a || b) || (c || d)
(a && b) && c
a ? b : c
a ? b : c ? d : e
a ? (b ? c : d) : e
(a ? b : c) ? d : e
a || b ? c && d : e + f
a?b:c
!a
!!a
!!!a
! a
!a.b
!a[0]
!(a && b)
!a == b
!-1
!!-1
-a
--a
---a
- a
-a.b
-a * b
-a + -b
a - -b
a--b
a-1
a -1
a - 1
a - -1
a--1
-1
- 1
--1
---1
-1.5
-0
-0.0
-.5
--1.5
-1u
-(1)
-1.a
-1[0]
-1 + -2
-9223372036854775808
9223372036854775807
0
00
007
0x0
0x10
-0x10
0xdeadBEEF
-0x8000000000000000
0x7fffffffffffffff
5u
5U
0x5u
0xau
18446744073709551615u
0xffffffffffffffffu
1.5
.5
1.5e3
1.5E+3
1.5e-3
1e3
.5e1
1e308
1e-999
1.a
1 . a
true
false
null
"text"
'text'
""
''
"it's"
'say "so"'
"tab\tnew\nline"
"\a\b\f\n\r\t\v\\\?\"\'\`"
'\x41\X42\u0043\U00000044\101'
'\xff\377\000'
"\U0001F600 é 😀"
r"\d+\.\w"
R'\'
r'''it's "raw" \'''
"""it's "three" quotes"""
'''it's "three" quotes'''
"""a"b""c"""
""""""
''''''
"""\n\x41"""
b"bytes"
B'bytes'
b'\x41\377'
br"\d"
bR'\u'
b"""three"""
rb
b
r
br
a // a comment
a /* b
.a
. a
.a.b
.a()
.if.b
a.b
a . b
a.b.c.d
a.if
a.for.while
a.if(b)
a.has(b)
a.in_b
index
nulls
trueish
_a
_
__a1
a.b()
a.b(c)
a.b(c, d)
a.b().c().d
f()
f(a)
f(a, b, c)
f ( a )
f(g(h(1)))
f(a)[0]
f(a).b
f(a ? b : c, !d)
a[0]
a[b]
a[b][c]
a[b ? c : d].e
a.b[0].c(d)[e]
(a).b
(a + b).c
"text".size()
[1, 2].size()
[1, 2][0]
{"a": 1}.a
[]
[,]
[a]
[a,]
[a, b]
[[], [[]]]
{}
{,}
{a: b}
{a: b,}
{"a": 1, 2: [3], b.c: d ? e : f}
{{}: {}}
A{}
A{,}
A{a: 1}
A{a: 1, b: 2,}
a.b.C{d: e}
.a.b.C{d: e}
if{}
A{if: 1}
A{a: 1}.a
a.b{}.c
a in A{}
has(a.b)
has(a.b.c)
has(a.b().c)
has(has(a.b))
has()
has(a.b, c)
.has(a)
a.all(x, x > 1)
a.exists(x, x > 1)
a.exists_one(x, x > 1)
a.existsOne(x, x > 1)
a.map(x, x + 1)
a.map(x, x > 1, x + 1)
a.filter(x, x > 1)
a.filter(x, y.all(z, z == x))
a.all(x)
a.all(x, y, z)
a.map(x)
a.map(x, y, z, w)
a.filter()
all(x, y)
map(x, y)
a.all(.x, x)
a.b(c).all(x, has(x.y))
sum(task.gc_time) / sum(task.run_time) > 0.1 && !(app.queue in ["etl", "adhoc"])"#;

/// Texts that are no expressions, one in each line.
pub(super) const REFUSED: &str = r#"
 
// a comment
a b
a +
+ a
+1
a + + b
a ? b
a ? b :
a ? b ? c : d : e
a : b
!-a
-!a
a ! b
a not in b
not a
(
)
()
(a
a)
(a))
[a
a]
[a]]
[a,,b]
[,a]
{a}
{a:}
{a:b,,}
{,a:b}
{a b}
f(,)
f(a,)
f(a b)
f(a
f()()
(f)(a)
a[0](b)
a.b()()
1(a)
a[]
a[b
a[b, c]
a.
a..b
a.1
a.5
a.true
a.in
a.null
a."b"
a.(b)
.
.5.
..a
.(a)
.1.a
as
break
const
continue
else
for
function
if
import
let
loop
package
namespace
return
var
void
while
.if
if()
.if()
if.a
in
a in
in a
true()
null.in
1.
1..a
1.5.5
1e
1e+
0X10
0x
0xg
5min
5 min
1_000
1u2
1.5u
1e3u
9223372036854775808
-9223372036854775809
--9223372036854775808
0x8000000000000000
18446744073709551616u
-18446744073709551616u
1e999
-1e999
"
'
"a
a"
'a"
"a\"
"\q"
"\x4"
"\xg0"
"\u004"
"\ud800"
"\U00110000"
"\U0000"
"\400"
"\08"
"\8"
r"a"b"
r'\''
b'\u0041'
b'\U00000041'
"""
"""a
"""a"
""""a""""
'''a''''
"a" "b"
"a"b
`a`
a.`b`
a.?b
a[?b]
[?a]
{?a: b}
A{?a: b}
a = b
a === b
a <> b
a & b
a | b
a ^ b
a ~ b
~a
a @ b
#a
a;
$a
a ?: b
a\b
é
aé
“a”
a b
A{
A{a}
A{a:}
A{a: 1
A{1: 2}
A{"a": 2}
A{a.b: 1}
A{,a: 1}
A.{}
f(){}
(a).b{}
a[0]{}
1{}
has(a)
has(1)
has(a[0])
has(a())
has(a.b())
has(has(a))
a.all(1, b)
a.exists(b.c, d)
a.map((a + b), c)
a.map("a", b, c)
a.filter(f(x), b)
a.all(x y)
5%
5% > a"#;

/// Texts with lines in them.
pub(super) const LINES: [&str; 15] = [
    "a // one\n+ // two\n b",
    "a //",
    "//\na",
    "a\r\n+\tb\x0c",
    "a\x0b+ b",
    "a\u{a0}+ b",
    "'a\nb'",
    "\"a\rb\"",
    "'''a\nb'''",
    "\"\"\"a\r\nb\rc\n\"\"\"",
    "r'''a\r\nb\\\rc'''",
    "r'a\nb'",
    "'''a\\\nb'''",
    "b'''a\r\n'''",
    "a\0b",
];
