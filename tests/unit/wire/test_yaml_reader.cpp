#include "support/catch.hpp"
#include "wire/yaml_reader.hpp"

using namespace sy::wire;

namespace {
std::string all(const Faults& f) {
  std::string out;
  for (const auto& x : f.list()) out += to_text(x) + "\n";
  return out;
}
}  // namespace

TEST_CASE("a mapping is read by type and its lines are known") {
  Faults faults("a.yaml");
  const auto doc = read_yaml_document("name: x\ncpus: 4\nlist: [a, b]\none: c\nflag: true\nhalf: 0.5\n", faults);
  REQUIRE(doc);
  YamlMap m(*doc, "", faults);
  CHECK(m.text("name") == "x");
  CHECK(m.integer("cpus", 1, 8) == 4);
  CHECK(m.text_list("list") == std::vector<std::string>{"a", "b"});
  CHECK(m.text_list("one") == std::vector<std::string>{"c"});
  CHECK(m.boolean("flag") == true);
  CHECK(m.number("half", 0, 1) == 0.5);
  CHECK(m.mark_of("list").line == 3);
  m.finish();
  CHECK(faults.empty());
}

TEST_CASE("every fault of a mapping is told, with file and line") {
  Faults faults("a.yaml");
  const auto doc = read_yaml_document("cpus: many\nmemory: 9\nnmae: x\nnodes:\n  - names: [1]\n    cpus: {}\n", faults);
  REQUIRE(doc);
  YamlMap m(*doc, "", faults);
  CHECK_FALSE(m.integer("cpus", 1, 8));
  CHECK_FALSE(m.integer("memory", 1, 8));
  CHECK_FALSE(m.text("name"));
  m.require("name");
  m.each("nodes", [&](const YamlNode& item, const std::string& path) {
    YamlMap n(item, path, faults);
    CHECK(n.text_list("names") == std::vector<std::string>{"1"});
    CHECK_FALSE(n.integer("cpus", 1, 8));
    n.finish();
  });
  m.finish();
  CHECK(all(faults) ==
        "a.yaml:1:7: cpus: a whole number belongs here (given: many)\n"
        "a.yaml:2:9: memory: the number is out of range (given: 9) (limit: 1 to 8)\n"
        "a.yaml:1:1: name: this key is missing or empty\n"
        "a.yaml:6:11: nodes[0].cpus: a whole number belongs here (given: a mapping)\n"
        "a.yaml:3:1: nmae: this key is not known here (limit: cpus, memory, name, nodes); did you mean name?\n");
}

TEST_CASE("a key written twice is refused with both lines") {
  Faults faults("a.yaml");
  read_yaml("a: 1\nb: 2\na: 3\n", faults);
  CHECK(all(faults) == "a.yaml:3:1: a: this key is written twice, first on line 1; keep one of them\n");
}

TEST_CASE("aliases are copies, and a bomb of aliases stops at the budget") {
  Faults sound("a.yaml");
  const auto doc = read_yaml_document("a: &x [1, 2]\nb: *x\n", sound);
  REQUIRE(doc);
  REQUIRE(doc->find("b")->items.size() == 2);
  CHECK(doc->find("b")->mark.line == 2);

  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int k = 0; k < 10; ++k) bomb += (k ? ", *a" : "*a") + std::to_string(i - 1);
    bomb += "]\n";
  }
  Faults faults("a.yaml");
  CHECK(read_yaml(bomb, faults, {1 << 20, 10'000, 64}).empty());
  CHECK(all(faults).find("too many values, aliases included (limit: 10000 values)") != std::string::npos);
}

TEST_CASE("a document that the parser can not get past is refused at once, not read two million times") {
  for (const auto* text : {",inkd :yHipe", "!lzone,, node", "] a", "a: 1\n---\n,b"}) {
    INFO(text);
    Faults faults("f");
    CHECK(read_yaml(text, faults).empty());
    REQUIRE(faults.count() >= 1);
    CHECK(to_text(faults.list().back()).find("not valid YAML") != std::string::npos);
  }
  Faults faults("f");
  CHECK(read_yaml("---\n---\n---\na\n", faults).size() == 3);  // empty documents are none of that
  CHECK(faults.empty());
}

TEST_CASE("an alias inside its own anchor, deep nesting, tags, zero bytes and syntax errors are refused") {
  const auto fault_of = [](const std::string& text) {
    Faults f("a");
    read_yaml(text, f);
    return all(f);
  };
  CHECK(fault_of("a: &x [*x]\n") == "a:1:8: an alias is used inside the value that it names\n");
  CHECK(fault_of(std::string(100, '[') + std::string(100, ']')) == "a:1:65: the file is nested too deeply (limit: 64 levels)\n");
  CHECK(fault_of("a: !secret b\n") == "a:1:4: tags have no meaning here (given: !secret); remove the tag\n");
  CHECK(fault_of(std::string("a: b\nc: \0d", 10)) == "a:2: the file holds a zero byte: it is not text\n");
  CHECK(fault_of("a: [1\nb: 2\n").rfind("a:", 0) == 0);
  CHECK(fault_of("[a]: 1\n") == "a:1:1: a key must be a word, not a list or a mapping\n");
  CHECK(fault_of("a: 1\nb: 2\n").empty());
}

TEST_CASE("a quote or a bracket that is never closed is refused where it was opened") {
  const auto fault_of = [](const std::string& text) {
    Faults f("a");
    read_yaml(text, f);
    return all(f);
  };
  const std::string single = "the quote opened here is never closed (given: '); write ' where the text ends\n";
  const std::string twice = "the quote opened here is never closed (given: \"); write \" where the text ends\n";
  const std::string list = "the bracket opened here is never closed (given: [); write ] where the list ends\n";
  const std::string mapping = "the bracket opened here is never closed (given: {); write } where the mapping ends\n";
  // yaml-cpp reads the keys behind it as text, and refuses only a text without a line break at its end.
  CHECK(fault_of("nodes: 2\nwrap: 'sleep 100\nmem: 1G\ntime: 5\n") == "a:2:7: " + single);
  CHECK(fault_of("wrap: \"x\n") == "a:1:7: " + twice);
  CHECK(fault_of("wrap: \"x") == "a:1:7: " + twice);
  CHECK(fault_of("a: 1\nwrap: 'it''s\n  ") == "a:2:7: " + single);
  CHECK(fault_of("wrap: \"x\\\"\n") == "a:1:7: " + twice);
  CHECK(fault_of("wrap: &w \"x\n") == "a:1:10: " + twice);
  CHECK(fault_of("\xEF\xBB\xBFwrap: \"x\n") == "a:1:7: " + twice);
  CHECK(fault_of("- a\n- 'b\n") == "a:2:3: " + single);
  CHECK(fault_of("a: [1, 'b\n") == "a:1:8: " + single);
  CHECK(fault_of("{\"a\": \"b, c: 1}\n") == "a:1:7: " + twice);
  CHECK(fault_of("{\"nodes\": 2,\n \"wrap\": \"true\"\n") == "a:1:1: " + mapping);
  CHECK(fault_of("{\"a\": {\"b\": 1\n}\n") == "a:1:1: " + mapping);
  CHECK(fault_of("{\"a\": [1, 2}\n") == "a:1:7: " + list);
  CHECK(fault_of("nodes: [1, 2\nwrap: x\n") == "a:1:8: " + list);
  CHECK(fault_of("nodes: 1\nlist: [a, it's, # ]\n  b\n") == "a:2:7: " + list);
  CHECK(fault_of("a: {b: [1, {c: 2]}\n") == "a:1:12: " + mapping);
  // Closed: what stands in quotes, words and comments opens nothing.
  for (const char* fine :
       {"a: 'b'\n", "a: \"b\\\"\"\n", "a: it's\n", "a: 'it''s'\n", "a: |\n  echo \"x\n", "a: >\n  'x\n", "a: '\n\n  b'\n",
        "{\"a\":\"b\",'c':[d'e,\"]\"]} # [\n", "a: &x 'b'\n", "a: [&x \"]\", *x]\n", "a: b 'c\n", "'a': b\n", "a: [b:'c]\n"})
    CHECK(fault_of(fine) == "");
  CHECK(fault_of("{a: 1}: 2\n") == "a:1:1: a key must be a word, not a list or a mapping\n");
}

TEST_CASE("an empty file and a second document are told apart") {
  Faults empty("a");
  CHECK_FALSE(read_yaml_document("# nothing\n", empty));
  CHECK(all(empty) == "a: the file is empty\n");
  Faults two("a");
  CHECK_FALSE(read_yaml_document("a: 1\n---\nb: 1\n", two));
  CHECK(two.count() == 1);
  Faults many("a");
  CHECK(read_yaml("a: 1\n---\nb: 1\n", many).size() == 2);
  CHECK(many.empty());
}
