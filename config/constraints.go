package config

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/gpucluster/pulumi-gpucluster/internal/strictyaml"
	"github.com/gpucluster/pulumi-gpucluster/internal/suggest"
)

// bounds is what the check tag of a field says: "min=1,max=16" for numbers,
// "enum=a|b" for words. The schema of the file says the same to editors.
type bounds struct {
	min, max *int64
	enum     []string
}

func boundsOf(field strictyaml.Field) bounds {
	var b bounds
	for part := range strings.SplitSeq(field.Tag.Get("check"), ",") {
		key, value, _ := strings.Cut(part, "=")
		switch key {
		case "min", "max":
			n, err := strconv.ParseInt(value, 10, 64)
			if err != nil {
				panic("config: bad check tag of " + field.GoName)
			}
			if key == "min" {
				b.min = &n
			} else {
				b.max = &n
			}
		case "enum":
			b.enum = strings.Split(value, "|")
		}
	}
	return b
}

// constraints checks what the tags of the fields say: required values are
// there, numbers within bounds, words known. A zero value that was not given
// counts as absent.
func (v *validator) constraints() {
	v.constrain(reflect.ValueOf(v.env).Elem(), "", strictyaml.Field{})
	for _, p := range v.problems {
		if p.Kind == KindMissing || strings.HasPrefix(p.Path, "hosts") {
			v.absent = append(v.absent, p.Path)
		}
	}
}

func (v *validator) constrain(value reflect.Value, path string, field strictyaml.Field) {
	switch value.Kind() {
	case reflect.Pointer:
		if !value.IsNil() {
			v.constrain(value.Elem(), path, field)
		}
	case reflect.Struct:
		if value.Type() == reflect.TypeFor[Secret]() {
			return
		}
		for _, field := range strictyaml.Fields(value.Type()) {
			v.field(value.Field(field.Index), strictyaml.Child(path, field.Name), field)
		}
	case reflect.Slice:
		for i := range value.Len() {
			v.constrain(value.Index(i), strictyaml.Item(path, i), field)
		}
	case reflect.Map:
		keys := value.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return cmp.Compare(a.String(), b.String()) })
		for _, key := range keys {
			v.constrain(value.MapIndex(key), strictyaml.Child(path, key.String()), field)
		}
	case reflect.String:
		v.word(value.String(), path, boundsOf(field))
	case reflect.Int, reflect.Int64:
		v.number(value, path, boundsOf(field))
	case reflect.Float64:
		if b := boundsOf(field); b.min != nil && value.Float() < float64(*b.min) {
			v.add(KindInvalid, path, "", fmt.Sprintf("%g is below %d", value.Float(), *b.min))
		}
	}
}

// field checks one field of a struct, where it is given.
func (v *validator) field(value reflect.Value, path string, field strictyaml.Field) {
	zero := value.IsZero()
	given := v.given != nil && v.given(path)
	switch {
	case v.isBroken(path):
		if value.Kind() == reflect.Struct || value.Kind() == reflect.Slice || value.Kind() == reflect.Map || value.Kind() == reflect.Pointer {
			v.constrain(value, path, field)
		}
	case zero && field.Required && !given:
		v.add(KindMissing, path, "", "is missing")
	case value.Kind() == reflect.String && value.String() == "" && given:
		v.add(KindInvalid, path, "write a value, or remove the key", "is empty")
	case (value.Kind() == reflect.Slice || value.Kind() == reflect.Map) && value.Len() == 0 && field.Required:
		v.add(KindMissing, path, "", "is empty, needs at least one")
	case zero && !given && !field.Required:
	default:
		v.constrain(value, path, field)
	}
}

func (v *validator) word(word, path string, b bounds) {
	if b.enum == nil || slices.Contains(b.enum, word) || v.isBroken(path) {
		return
	}
	hint := "one of " + strings.Join(b.enum, ", ")
	if meant := suggest.Closest(word, b.enum); meant != "" && unicode.IsLetter(rune(word[0])) {
		hint = fmt.Sprintf("did you mean %q?", meant)
	}
	v.add(KindInvalid, path, hint, fmt.Sprintf("%q is not known here", word))
}

func (v *validator) number(value reflect.Value, path string, b bounds) {
	n := value.Int()
	if v.isBroken(path) {
		return
	}
	kind := KindInvalid
	if strings.HasPrefix(path, "profiles") {
		kind = KindHardware
	}
	amount := func(n int64) string {
		if value.Type() == reflect.TypeFor[Size]() {
			return Size(n).String()
		}
		return strconv.FormatInt(n, 10)
	}
	var hint []string
	if b.min != nil {
		hint = append(hint, "at least "+amount(*b.min))
	}
	if b.max != nil {
		hint = append(hint, "at most "+amount(*b.max))
	}
	switch {
	case b.min != nil && n < *b.min:
		v.add(kind, path, strings.Join(hint, ", "), amount(n)+" is too small")
	case b.max != nil && n > *b.max:
		v.add(kind, path, strings.Join(hint, ", "), amount(n)+" is too large")
	}
}
