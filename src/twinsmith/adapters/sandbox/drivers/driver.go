// Package driver answers calls of a program's functions over two pipes, by reflection.
//
// A frame is its length in four bytes, then JSON; see languages/language.py.
package driver

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"reflect"
	"runtime"
	"sort"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Function is one function that can be called.
type Function struct {
	Name string
	Code any
}

// object is an object of JSON, or its fields on their way out.
type object map[string]any

// number is a number as it was written.
type number string

const deepest = 1000

var failure = reflect.TypeOf((*error)(nil)).Elem()

// Serve names the functions, then answers until there are no more requests.
func Serve(functions []Function) {
	requests, replies := pipe(2), pipe(1)
	os.Args = os.Args[:len(os.Args)-2]
	names, code := []string{}, map[string]reflect.Value{}
	for _, function := range functions {
		names = append(names, function.Name)
		code[function.Name] = reflect.ValueOf(function.Code)
	}
	send(replies, object{"functions": names})
	for {
		head := make([]byte, 4)
		if _, err := io.ReadFull(requests, head); err != nil {
			return
		}
		body := make([]byte, binary.BigEndian.Uint32(head))
		if _, err := io.ReadFull(requests, body); err != nil {
			return
		}
		send(replies, answer(code, body))
	}
}

func pipe(fromEnd int) *os.File {
	fd, err := strconv.Atoi(os.Args[len(os.Args)-fromEnd])
	if err != nil {
		os.Exit(2)
	}
	return os.NewFile(uintptr(fd), "pipe")
}

func send(replies *os.File, message object) {
	body, err := write(nil, reflect.ValueOf(message), 0)
	if err != nil {
		body, _ = write(nil, reflect.ValueOf(raised("TypeError", err.Error(), "")), 0)
	}
	frame := binary.BigEndian.AppendUint32(nil, uint32(len(body)))
	if _, err := replies.Write(append(frame, body...)); err != nil {
		os.Exit(1)
	}
}

func raised(kind, message, where string) object {
	return object{"raised": kind, "message": message, "where": where}
}

func answer(functions map[string]reflect.Value, body []byte) (reply object) {
	request, err := parse(string(body))
	if err != nil {
		return raised("ValueError", err.Error(), "")
	}
	fields, _ := request.(object)
	name, _ := fields["call"].(string)
	given, _ := fields["args"].([]any)
	function, ok := functions[name]
	if !ok {
		return raised("NameError", "no function "+name, "")
	}
	args, err := arguments(function.Type(), given)
	if err != nil {
		return raised("TypeError", name+": "+err.Error(), "")
	}
	defer func() {
		if problem := recover(); problem != nil {
			reply = raised("panic", fmt.Sprint(problem), line())
		}
	}()
	results := function.Call(args)
	if last := len(results) - 1; last >= 0 && results[last].Type() == failure {
		if problem, _ := results[last].Interface().(error); problem != nil {
			return raised("error", problem.Error(), "")
		}
		results = results[:last]
	}
	return object{"value": together(results), "args": args}
}

// together is nothing, the one value, or all of them.
func together(results []reflect.Value) any {
	switch len(results) {
	case 0:
		return nil
	case 1:
		return results[0]
	}
	return results
}

// line is where in the program a panic began.
func line() string {
	callers := make([]uintptr, 64)
	frames := runtime.CallersFrames(callers[:runtime.Callers(3, callers)])
	for {
		frame, more := frames.Next()
		if strings.HasSuffix(frame.File, "solution.go") {
			return fmt.Sprintf(" (line %d)", frame.Line)
		}
		if !more {
			return ""
		}
	}
}

func arguments(signature reflect.Type, given []any) ([]reflect.Value, error) {
	want, variadic := signature.NumIn(), signature.IsVariadic()
	if len(given) != want && !(variadic && len(given) >= want-1) {
		return nil, fmt.Errorf("takes %d arguments, not %d", want, len(given))
	}
	args := make([]reflect.Value, len(given))
	for i, value := range given {
		var kind reflect.Type
		if variadic && i >= want-1 {
			kind = signature.In(want - 1).Elem()
		} else {
			kind = signature.In(i)
		}
		args[i] = reflect.New(kind).Elem()
		if err := assign(args[i], value); err != nil {
			return nil, fmt.Errorf("argument %d: %w", i+1, err)
		}
	}
	return args, nil
}

// assign puts a value of JSON where Go wants it.
func assign(target reflect.Value, value any) error {
	kind := target.Type()
	wrong := func() error { return fmt.Errorf("%s is wanted, not %s", kind, shown(value)) }
	if reader, ok := target.Addr().Interface().(interface{ UnmarshalJSON([]byte) error }); ok {
		text, err := write(nil, reflect.ValueOf(&value).Elem(), 0)
		if err != nil {
			return err
		}
		return reader.UnmarshalJSON(text)
	}
	switch target.Kind() {
	case reflect.Pointer:
		if value == nil {
			return nil
		}
		target.Set(reflect.New(kind.Elem()))
		return assign(target.Elem(), value)
	case reflect.Interface:
		if kind.NumMethod() > 0 && value != nil {
			return wrong()
		}
		if value = plain(value); value != nil {
			target.Set(reflect.ValueOf(value))
		}
		return nil
	}
	switch given := value.(type) {
	case nil:
		if target.Kind() == reflect.Slice || target.Kind() == reflect.Map {
			return nil
		}
	case bool:
		if target.Kind() == reflect.Bool {
			target.SetBool(given)
			return nil
		}
	case string:
		if target.Kind() == reflect.String {
			target.SetString(given)
			return nil
		}
	case number:
		if assignNumber(target, given) {
			return nil
		}
	case []any:
		return assignItems(target, given, wrong)
	case object:
		return assignFields(target, given, wrong)
	}
	return wrong()
}

func assignNumber(target reflect.Value, given number) bool {
	text := string(given)
	if target.CanFloat() {
		value, err := strconv.ParseFloat(text, 64)
		target.SetFloat(value)
		return err == nil || errors.Is(err, strconv.ErrRange)
	}
	if float, err := strconv.ParseFloat(text, 64); err == nil && strings.ContainsAny(text, ".eE") &&
		float == math.Trunc(float) {
		text = strconv.FormatFloat(float, 'f', 0, 64)
	}
	if target.CanInt() {
		value, err := strconv.ParseInt(text, 10, target.Type().Bits())
		target.SetInt(value)
		return err == nil
	}
	if target.CanUint() {
		value, err := strconv.ParseUint(text, 10, target.Type().Bits())
		target.SetUint(value)
		return err == nil
	}
	return false
}

func assignItems(target reflect.Value, given []any, wrong func() error) error {
	switch {
	case target.Kind() == reflect.Slice:
		target.Set(reflect.MakeSlice(target.Type(), len(given), len(given)))
	case target.Kind() != reflect.Array || target.Len() != len(given):
		return wrong()
	}
	for i, item := range given {
		if err := assign(target.Index(i), item); err != nil {
			return err
		}
	}
	return nil
}

func assignFields(target reflect.Value, given object, wrong func() error) error {
	kind := target.Type()
	switch target.Kind() {
	case reflect.Map:
		target.Set(reflect.MakeMapWithSize(kind, len(given)))
		for name, item := range given {
			key, value := reflect.New(kind.Key()).Elem(), reflect.New(kind.Elem()).Elem()
			if err := assign(key, keyFor(key, name)); err != nil {
				return err
			}
			if err := assign(value, item); err != nil {
				return err
			}
			target.SetMapIndex(key, value)
		}
	case reflect.Struct:
		for name, item := range given {
			field := fieldOf(kind, name)
			if field < 0 {
				return fmt.Errorf("%s has no field %q", kind, name)
			}
			if err := assign(target.Field(field), item); err != nil {
				return err
			}
		}
	default:
		return wrong()
	}
	return nil
}

func keyFor(key reflect.Value, name string) any {
	switch {
	case key.CanInt(), key.CanUint(), key.CanFloat():
		return number(name)
	case key.Kind() == reflect.Bool:
		return name == "true"
	}
	return name
}

func fieldOf(kind reflect.Type, name string) int {
	for i := 0; i < kind.NumField(); i++ {
		if own := fieldName(kind.Field(i)); own != "" && strings.EqualFold(own, name) {
			return i
		}
	}
	return -1
}

// fieldName is a field's name in JSON, empty where it has none.
func fieldName(field reflect.StructField) string {
	name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
	switch {
	case !field.IsExported() || name == "-":
		return ""
	case name == "":
		return field.Name
	}
	return name
}

// plain is what an argument of no particular type holds.
func plain(value any) any {
	switch given := value.(type) {
	case number:
		if whole, err := strconv.Atoi(string(given)); err == nil {
			return whole
		}
		float, _ := strconv.ParseFloat(string(given), 64)
		return float
	case []any:
		for i := range given {
			given[i] = plain(given[i])
		}
	case object:
		fields := map[string]any{}
		for name, item := range given {
			fields[name] = plain(item)
		}
		return fields
	}
	return value
}

func shown(value any) string {
	text, _ := write(nil, reflect.ValueOf(&value).Elem(), 0)
	if len(text) > 80 {
		return strings.ToValidUTF8(string(text[:80]), "") + "…"
	}
	return string(text)
}

// write appends a value as JSON; floating numbers can be told from whole ones.
func write(out []byte, value reflect.Value, depth int) ([]byte, error) {
	if !value.IsValid() {
		return append(out, "null"...), nil
	}
	if depth > deepest {
		return nil, errors.New("the value is nested too deeply")
	}
	if value.CanInterface() {
		switch given := value.Interface().(type) {
		case reflect.Value:
			return write(out, given, depth)
		case number:
			return append(out, given...), nil
		case interface{ MarshalJSON() ([]byte, error) }:
			if value.Kind() != reflect.Pointer || !value.IsNil() {
				text, err := given.MarshalJSON()
				return append(out, text...), err
			}
		case error:
			if value.Kind() != reflect.Pointer || !value.IsNil() {
				return quote(out, given.Error()), nil
			}
		}
	}
	switch value.Kind() {
	case reflect.Bool:
		return strconv.AppendBool(out, value.Bool()), nil
	case reflect.String:
		return quote(out, value.String()), nil
	case reflect.Float32, reflect.Float64:
		return float(out, value.Float(), value.Type().Bits()), nil
	case reflect.Slice, reflect.Array:
		return writeItems(out, value, depth)
	case reflect.Map:
		return writeMap(out, value, depth)
	case reflect.Struct:
		return writeStruct(out, value, depth)
	case reflect.Pointer, reflect.Interface:
		return write(out, value.Elem(), depth+1)
	}
	switch {
	case value.CanInt():
		return strconv.AppendInt(out, value.Int(), 10), nil
	case value.CanUint():
		return strconv.AppendUint(out, value.Uint(), 10), nil
	}
	return nil, fmt.Errorf("a value of type %s cannot be shown", value.Type())
}

func float(out []byte, value float64, bits int) []byte {
	switch {
	case math.IsNaN(value):
		return append(out, "NaN"...)
	case math.IsInf(value, 1):
		return append(out, "Infinity"...)
	case math.IsInf(value, -1):
		return append(out, "-Infinity"...)
	}
	text := strconv.FormatFloat(value, 'g', -1, bits)
	if !strings.ContainsAny(text, ".e") {
		text += ".0"
	}
	return append(out, text...)
}

func writeItems(out []byte, value reflect.Value, depth int) ([]byte, error) {
	var err error
	out = append(out, '[')
	for i := 0; i < value.Len(); i++ {
		if i > 0 {
			out = append(out, ',')
		}
		if out, err = write(out, value.Index(i), depth+1); err != nil {
			return nil, err
		}
	}
	return append(out, ']'), nil
}

func writeMap(out []byte, value reflect.Value, depth int) ([]byte, error) {
	fields, names := map[string]reflect.Value{}, []string{}
	for _, key := range value.MapKeys() {
		name, err := write(nil, key, depth+1)
		if err != nil {
			return nil, err
		}
		if name[0] != '"' {
			name = quote(nil, string(name))
		}
		names = append(names, string(name))
		fields[string(name)] = value.MapIndex(key)
	}
	sort.Strings(names)
	return writeFields(out, names, fields, depth)
}

func writeStruct(out []byte, value reflect.Value, depth int) ([]byte, error) {
	fields, names := map[string]reflect.Value{}, []string{}
	for i := 0; i < value.NumField(); i++ {
		if name := fieldName(value.Type().Field(i)); name != "" {
			name = string(quote(nil, name))
			names = append(names, name)
			fields[name] = value.Field(i)
		}
	}
	return writeFields(out, names, fields, depth)
}

func writeFields(
	out []byte, names []string, fields map[string]reflect.Value, depth int,
) ([]byte, error) {
	var err error
	out = append(out, '{')
	for i, name := range names {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(out, name...), ':')
		if out, err = write(out, fields[name], depth+1); err != nil {
			return nil, err
		}
	}
	return append(out, '}'), nil
}

func quote(out []byte, text string) []byte {
	out = append(out, '"')
	for _, letter := range text {
		switch {
		case letter == '"' || letter == '\\':
			out = append(out, '\\', byte(letter))
		case letter < ' ':
			out = fmt.Appendf(out, "\\u%04x", letter)
		default:
			out = utf8.AppendRune(out, letter)
		}
	}
	return append(out, '"')
}

// reader is JSON that is being read, with NaN and Infinity as Python writes them.
type reader struct {
	text string
	at   int
}

func parse(text string) (any, error) {
	source := &reader{text: text}
	value, err := source.value(0)
	if err == nil && source.peek() != 0 {
		err = source.bad()
	}
	return value, err
}

func (r *reader) bad() error {
	return fmt.Errorf("the request cannot be read at byte %d", r.at)
}

// peek is the next byte that is not a space, or 0 at the end.
func (r *reader) peek() byte {
	for ; r.at < len(r.text); r.at++ {
		if letter := r.text[r.at]; letter > ' ' {
			return letter
		}
	}
	return 0
}

func (r *reader) take(letter byte) bool {
	if r.peek() != letter {
		return false
	}
	r.at++
	return true
}

func (r *reader) value(depth int) (any, error) {
	if depth > deepest {
		return nil, errors.New("the request is nested too deeply")
	}
	switch r.peek() {
	case '"':
		return r.string()
	case '[':
		return r.array(depth)
	case '{':
		return r.object(depth)
	}
	end := r.at
	for end < len(r.text) && !strings.ContainsRune(",]} \t\r\n", rune(r.text[end])) {
		end++
	}
	word := r.text[r.at:end]
	switch word {
	case "null":
		r.at = end
		return nil, nil
	case "true", "false":
		r.at = end
		return word == "true", nil
	}
	if _, err := strconv.ParseFloat(word, 64); err != nil && !errors.Is(err, strconv.ErrRange) {
		return nil, r.bad()
	}
	r.at = end
	return number(word), nil
}

func (r *reader) array(depth int) (any, error) {
	items := []any{}
	r.at++
	if r.take(']') {
		return items, nil
	}
	for {
		item, err := r.value(depth + 1)
		if err != nil {
			return nil, err
		}
		items = append(items, item)
		if r.take(']') {
			return items, nil
		}
		if !r.take(',') {
			return nil, r.bad()
		}
	}
}

func (r *reader) object(depth int) (any, error) {
	fields := object{}
	r.at++
	if r.take('}') {
		return fields, nil
	}
	for {
		if r.peek() != '"' {
			return nil, r.bad()
		}
		name, err := r.string()
		if err != nil {
			return nil, err
		}
		if !r.take(':') {
			return nil, r.bad()
		}
		if fields[name], err = r.value(depth + 1); err != nil {
			return nil, err
		}
		if r.take('}') {
			return fields, nil
		}
		if !r.take(',') {
			return nil, r.bad()
		}
	}
}

func (r *reader) string() (string, error) {
	out := []byte{}
	for r.at++; r.at < len(r.text); r.at++ {
		switch letter := r.text[r.at]; letter {
		case '"':
			r.at++
			return string(out), nil
		case '\\':
			r.at++
			if r.at >= len(r.text) {
				return "", r.bad()
			}
			if r.text[r.at] == 'u' {
				out = utf8.AppendRune(out, r.escape())
				continue
			}
			plain := strings.IndexByte("bfnrt", r.text[r.at])
			if plain < 0 {
				out = append(out, r.text[r.at])
			} else {
				out = append(out, "\b\f\n\r\t"[plain])
			}
		default:
			out = append(out, letter)
		}
	}
	return "", r.bad()
}

// escape reads the four digits after \u, and the second half of a pair if there is one.
func (r *reader) escape() rune {
	first := r.digits(r.at + 1)
	r.at += 4
	if r.at < len(r.text) && strings.HasPrefix(r.text[r.at+1:], `\u`) {
		if both := utf16.DecodeRune(first, r.digits(r.at+3)); both != utf8.RuneError {
			r.at += 6
			return both
		}
	}
	return first
}

func (r *reader) digits(from int) rune {
	if from+4 > len(r.text) {
		return utf8.RuneError
	}
	value, err := strconv.ParseUint(r.text[from:from+4], 16, 32)
	if err != nil {
		return utf8.RuneError
	}
	return rune(value)
}
