"""The part of JSON Schema that docs/schemas uses."""

KINDS = {"object": lambda v: isinstance(v, dict), "array": lambda v: isinstance(v, list), "string": lambda v: isinstance(v, str),
         "null": lambda v: v is None, "boolean": lambda v: isinstance(v, bool), "integer": lambda v: isinstance(v, int) and not isinstance(v, bool),
         "number": lambda v: isinstance(v, (int, float)) and not isinstance(v, bool)}


def validate(value, schema, root, path="$"):
    """The part of JSON Schema that the schemas use; besides, a key without description is a problem."""
    if "$ref" in schema:
        return validate(value, root["$defs"][schema["$ref"].rsplit("/", 1)[1]], root, path)
    if "anyOf" in schema:
        tried = [validate(value, one, root, path) for one in schema["anyOf"]]
        return min(tried, key=len)
    if "enum" in schema:
        return [] if value in schema["enum"] else [f"{path}: {value!r} is none of {schema['enum']}"]
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    if not any(KINDS[kind](value) for kind in kinds):
        return [f"{path}: {value!r} is not of type {schema['type']}"]
    if value_is_small(value, schema):
        return [f"{path}: {value} is too small"]
    if isinstance(value, list):
        return [problem for i, part in enumerate(value) for problem in validate(part, schema["items"], root, f"{path}[{i}]")]
    if not isinstance(value, dict):
        return []
    problems = [f"{path}: no {name}" for name in schema.get("required", []) if name not in value]
    for name, part in value.items():
        known = schema.get("properties", {}).get(name, schema.get("additionalProperties"))
        problems += [f"{path}: {name} is not described"] if known is None else validate(part, known, root, f"{path}.{name}")
    return problems


def value_is_small(value, schema):
    return "minimum" in schema and value < schema["minimum"]


def definition(schema, name):
    return {"type": "array", "items": {"$ref": f"#/$defs/{name}"}, "$defs": schema["$defs"]}
