#!/usr/bin/env python3
"""The recording profile for Windows keeps to the rules of WPR: recording_profile_test.py PROFILE.wprp

Every profile is there for a file and for memory, its id is Name.DetailLevel.LoggingMode, what it refers to is defined, and
every event with a callstack is recorded by a keyword.
"""
import sys
import xml.etree.ElementTree as tree

# Keywords for events with callstacks, and those without which callstacks mean nothing.
NEEDED = {"ProcessThread", "Loader", "SampledProfile"}
DEFINED = {"SystemCollectorId": "SystemCollector", "SystemProviderId": "SystemProvider"}


def main():
    profiles = tree.parse(sys.argv[1]).getroot().find("Profiles")
    problems, ids = [], {}
    for element in profiles:
        ids.setdefault(element.tag, []).append(element.get("Id"))
    everything = [name for names in ids.values() for name in names]
    if len(set(everything)) != len(everything) or not {"SystemCollector", "SystemProvider", "Profile"} <= ids.keys():
        problems.append(f"ids: {everything}")
    modes = {}
    for profile in profiles.findall("Profile"):
        name = profile.get("Name")
        if profile.get("Id") != f"{name}.{profile.get('DetailLevel')}.{profile.get('LoggingMode')}":
            problems.append(f"the id of {profile.get('Id')}")
        modes.setdefault((name, profile.get("DetailLevel")), set()).add(profile.get("LoggingMode"))
        base = profile.get("Base")
        if (base is None) == (profile.find("Collectors") is None) or (base and base not in ids["Profile"]):
            problems.append(f"what {profile.get('Id')} consists of")
        problems += [f"{use.tag} {use.get('Value')} is not defined" for use in profile.iter()
                     if use.tag in DEFINED and use.get("Value") not in ids[DEFINED[use.tag]]]
    problems += [f"{name}: only for {kinds}" for name, kinds in modes.items() if kinds != {"File", "Memory"}]
    for provider in profiles.findall("SystemProvider"):
        keywords = {element.get("Value") for element in provider.iter("Keyword")}
        stacks = {element.get("Value") for element in provider.iter("Stack")}
        if not NEEDED <= keywords or not stacks or not stacks <= keywords:
            problems.append(f"{provider.get('Id')}: {keywords}, {stacks}")
    print("\n".join(problems) or f"{len(modes)} profiles")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
